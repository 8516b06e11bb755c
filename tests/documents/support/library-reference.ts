// Generates the reference of the library's methods and records from the docstrings of
// packages/client.

import { join } from 'node:path';
import ts from 'typescript';
import { projectDir } from '../../tidy/source-tree.ts';

const entry = join(projectDir, 'packages/client/src/index.ts');
/** A field of many methods, which the page explains once. */
const everywhere = 'signal';

interface Method {
  /** Such as `links.create`. */
  readonly name: string;
  readonly signature: ts.Signature;
  readonly symbol: ts.Symbol;
}

export function libraryReference(): string {
  const { config } = ts.readConfigFile(join(projectDir, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, projectDir);
  const program = ts.createProgram([entry], { ...options, noEmit: true });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(entry);
  const module = source && checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`${entry} has no exports`);
  const exported = new Map(
    checker.getExportsOfModule(module).map((symbol) => [symbol.name, resolved(symbol, checker)]),
  );
  const storage = exported.get('Storage');
  if (storage === undefined) throw new Error(`${entry} exports no Storage`);
  const methods = methodsOf(checker.getDeclaredTypeOfSymbol(storage), '', checker).sort(byGroup);
  const records = recordsIn(methods, exported, checker);
  return [
    '## Methods',
    ...methods.map((method) => methodSection(method, checker)),
    '## Records',
    ...records.map((symbol) => recordSection(symbol, checker)),
  ].join('\n\n');
}

/** Operations on files first, then those of each group, in the order of the source. */
const groups = [
  '',
  'links',
  'versions',
  'uploads',
  'buckets',
  'keys',
  'access',
  'wellKnown',
  'rotation',
];

function byGroup({ name: one }: Method, { name: other }: Method): number {
  const rank = (name: string) =>
    groups.indexOf(name.includes('.') ? (name.split('.')[0] ?? '') : '');
  return rank(one) - rank(other);
}

function resolved(symbol: ts.Symbol, checker: ts.TypeChecker): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

function methodsOf(type: ts.Type, prefix: string, checker: ts.TypeChecker): Method[] {
  return checker.getPropertiesOfType(type).flatMap((symbol): Method[] => {
    if (isDeprecated(symbol)) return [];
    const own = checker.getTypeOfSymbol(symbol);
    const [signature] = own.getCallSignatures();
    const name = `${prefix}${symbol.name}`;
    return signature === undefined
      ? methodsOf(own, `${name}.`, checker)
      : [{ name, signature, symbol }];
  });
}

function isDeprecated(symbol: ts.Symbol): boolean {
  return symbol.getJsDocTags().some(({ name }) => name === 'deprecated');
}

function textOf(symbol: ts.Symbol, checker: ts.TypeChecker): string {
  const text = ts.displayPartsToString(symbol.getDocumentationComment(checker));
  return text.replaceAll(/\s+/g, ' ').trim();
}

function exampleOf(symbol: ts.Symbol): string[] {
  const tag = symbol.getJsDocTags().find(({ name }) => name === 'example');
  const text = ts.displayPartsToString(tag?.text).trim();
  return text === '' ? [] : [`<!-- test: docstring -->\n${text}`];
}

function methodSection({ name, signature, symbol }: Method, checker: ts.TypeChecker): string {
  const declared = signature.getDeclaration().getText().replaceAll(/\s+/g, ' ');
  const shown = declared
    .replace(/^\w+/, name)
    .replace(/;$/, '')
    .replaceAll(/,? \)/g, ')')
    .replaceAll('( ', '(');
  const rows = signature.getParameters().flatMap((parameter) => {
    const type = checker.getNonNullableType(checker.getTypeOfSymbol(parameter));
    return isRecord(type) ? rowsOf(type, checker) : [];
  });
  const table =
    rows.length === 0 ? [] : [['| option | type | |', '|---|---|---|', ...rows].join('\n')];
  const parts = [`### ${name}`, `\`${shown}\``, textOf(symbol, checker), ...table];
  return [...parts, ...exampleOf(symbol)].join('\n\n');
}

function recordSection(symbol: ts.Symbol, checker: ts.TypeChecker): string {
  const rows = rowsOf(checker.getDeclaredTypeOfSymbol(symbol), checker);
  const table = ['| field | type | |', '|---|---|---|', ...rows].join('\n');
  const text = textOf(symbol, checker);
  return [`### ${symbol.name}`, ...(text === '' ? [] : [text]), table].join('\n\n');
}

/** Whether the type is declared in packages/ and its fields are listed in the reference. */
function isRecord(type: ts.Type): boolean {
  const parts = type.isUnion() ? type.types : [type];
  return parts.every((part) => {
    const [declaration] = (part.aliasSymbol ?? part.getSymbol())?.declarations ?? [];
    const isOwn = declaration?.getSourceFile().fileName.startsWith(join(projectDir, 'packages'));
    const isPlain = part.getCallSignatures().length === 0;
    return isOwn === true && isPlain && (part.flags & ts.TypeFlags.Object || part.isIntersection());
  });
}

function rowsOf(type: ts.Type, checker: ts.TypeChecker): string[] {
  const parts = type.isUnion() ? type.types : [type];
  const fields = new Map(
    parts.flatMap((part) => checker.getPropertiesOfType(part)).map((each) => [each.name, each]),
  );
  return [...fields.values()].flatMap((field) => {
    const own = checker.getNonNullableType(checker.getTypeOfSymbol(field));
    if (field.name === everywhere || own.flags & ts.TypeFlags.Never) return [];
    const isOptional = (field.flags & ts.SymbolFlags.Optional) !== 0 || type.isUnion();
    const shown = checker.typeToString(own, undefined, ts.TypeFormatFlags.NoTruncation);
    const cell = (text: string) => text.replaceAll('|', '\\|');
    const name = `\`${field.name}${isOptional && !isCommon(parts, field.name, checker) ? '?' : ''}\``;
    return [`| ${name} | \`${cell(shown)}\` | ${cell(textOf(field, checker))} |`];
  });
}

/** Whether each part of a union requires the field. */
function isCommon(parts: readonly ts.Type[], name: string, checker: ts.TypeChecker): boolean {
  return parts.every((part) => {
    const field = checker.getPropertyOfType(part, name);
    return field !== undefined && (field.flags & ts.SymbolFlags.Optional) === 0;
  });
}

/** Returns the exported interfaces that the methods return, in the order of their first use. */
function recordsIn(
  methods: readonly Method[],
  exported: ReadonlyMap<string, ts.Symbol>,
  checker: ts.TypeChecker,
): ts.Symbol[] {
  const names = methods.flatMap(({ signature }) => {
    const text = checker.typeToString(signature.getReturnType());
    return text.match(/[A-Z]\w+/g) ?? [];
  });
  return [...new Set(names)].flatMap((name) => {
    const symbol = exported.get(name);
    return symbol === undefined || symbol.flags & ts.SymbolFlags.Class ? [] : [symbol];
  });
}
