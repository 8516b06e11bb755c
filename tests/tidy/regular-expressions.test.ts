// No pattern for untrusted input may take more than linear time: a checker analyses each regular
// expression, both literals and those composed of constants. Expressions that it cannot analyse
// fail. The checker takes seconds for some, so `linear-patterns.json` has the hashes of those that it
// found linear; it runs only for others. `EFS_RECORD_PATTERNS=1` checks all and writes the file anew.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { projectDir, readSources, type SourceFile } from './source-tree.ts';

interface Checker {
  checkSync(
    source: string,
    flags: string,
    options: { readonly timeout: number },
  ): {
    readonly status: 'safe' | 'vulnerable' | 'unknown';
    readonly complexity?: { readonly type: string; readonly summary: string };
  };
}

let checker: Checker | undefined;

/** Loads the checker; installs the version of its lock file first, if that is missing. */
function loadChecker(): Checker {
  const folder = join(projectDir, 'tests', 'tidy', 'recheck');
  const versionAt = (path: string) => JSON.parse(readFileSync(join(folder, path), 'utf8'));
  const installed = 'node_modules/recheck/package.json';
  const wanted = versionAt('package.json').dependencies.recheck;
  if (!existsSync(join(folder, installed)) || versionAt(installed).version !== wanted) {
    execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'inherit' });
  }
  process.env.RECHECK_BACKEND = 'pure';
  return createRequire(join(folder, 'package.json'))('recheck');
}

const checkMilliseconds = 60_000;

interface Pattern {
  readonly where: string;
  readonly source: string;
  readonly flags: string;
}

const sources = new Map(readSources().map((file) => [file.path, file]));
const parsed = new Map<string, ts.SourceFile>();

function parse(file: SourceFile): ts.SourceFile {
  const known = parsed.get(file.path);
  if (known !== undefined) return known;
  const text = file.lines.join('\n');
  const tree = ts.createSourceFile(file.path, text, ts.ScriptTarget.ES2022, true);
  parsed.set(file.path, tree);
  return tree;
}

function patternsOf(file: SourceFile): Pattern[] {
  const tree = parse(file);
  const patterns: Pattern[] = [];
  function visit(node: ts.Node): void {
    const { line } = tree.getLineAndCharacterOfPosition(node.getStart());
    const where = `${file.path}:${line + 1}`;
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      const flags = node.text.slice(end + 1);
      patterns.push({ where, source: node.text.slice(1, end), flags });
    }
    const isConstruction = ts.isNewExpression(node) || ts.isCallExpression(node);
    if (isConstruction && node.expression.getText() === 'RegExp') {
      const [source, flags] = node.arguments ?? [];
      const written = (part: ts.Expression | undefined) =>
        part === undefined ? '' : constantOf(part, { file, where });
      patterns.push({ where, source: written(source), flags: written(flags) });
    }
    ts.forEachChild(node, visit);
  }
  visit(tree);
  return patterns;
}

interface Place {
  readonly file: SourceFile;
  readonly where: string;
}

/**
 * Returns the text of an expression that is composed of constants of this module or imported ones.
 */
function constantOf(node: ts.Expression, place: Place): string {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isNumericLiteral(node)) return String(Number(node.text.replaceAll('_', '')));
  if (ts.isTemplateExpression(node)) {
    const spans = node.templateSpans.map(({ expression, literal }) => {
      return constantOf(expression, place) + literal.text;
    });
    return node.head.text + spans.join('');
  }
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    return constantOf(node.left, place) + constantOf(node.right, place);
  }
  if (ts.isIdentifier(node)) return constantNamed(node.text, place);
  throw new Error(`${place.where}: compose patterns of constants, so that they can be checked`);
}

function constantNamed(name: string, place: Place): string {
  for (const statement of parse(place.file).statements) {
    if (ts.isVariableStatement(statement)) {
      const own = statement.declarationList.declarations.find(
        (declaration) => declaration.name.getText() === name,
      );
      if (own?.initializer !== undefined) return constantOf(own.initializer, place);
    }
    if (ts.isImportDeclaration(statement) && ts.isStringLiteral(statement.moduleSpecifier)) {
      const bindings = statement.importClause?.namedBindings;
      const isHere =
        bindings !== undefined &&
        ts.isNamedImports(bindings) &&
        bindings.elements.some((element) => element.name.text === name);
      const path = join(dirname(place.file.path), statement.moduleSpecifier.text);
      const file = isHere ? sources.get(path) : undefined;
      if (file !== undefined) return constantNamed(name, { ...place, file });
    }
  }
  throw new Error(`${place.where}: ${name} is not a constant that can be checked`);
}

const recordPath = join(projectDir, 'tests', 'tidy', 'linear-patterns.json');
const isRecording = process.env.EFS_RECORD_PATTERNS === '1';
const recorded = new Set<string>(
  isRecording ? [] : JSON.parse(readFileSync(recordPath, 'utf8')).hashes,
);

function verdictOn({ source, flags }: Pattern): string {
  const hash = createHash('sha256').update(`4.5.0/${flags}/${source}`).digest('hex').slice(0, 24);
  if (recorded.has(hash)) return 'linear';
  checker ??= loadChecker();
  const { status, complexity } = checker.checkSync(source, flags, { timeout: checkMilliseconds });
  const isLinear = status === 'safe' && /^(?:safe|linear)$/.test(complexity?.type ?? '');
  if (isLinear) recorded.add(hash);
  return isLinear ? 'linear' : `${status}, ${complexity?.summary ?? 'no verdict'}`;
}

function faults(patterns: readonly Pattern[]): string[] {
  return patterns.flatMap((pattern) => {
    const verdict = verdictOn(pattern);
    return verdict === 'linear' ? [] : [`${pattern.where} /${pattern.source}/: ${verdict}`];
  });
}

test('every pattern of the canister, the client, the replica and the S3 server takes linear time', () => {
  const files = [...sources.values()].filter(({ path }) =>
    /^(?:src|packages\/(?:client|replica|s3))\//.test(path),
  );
  const patterns = files.flatMap(patternsOf);
  expect(patterns.length).toBeGreaterThan(50);
  expect(faults(patterns)).toEqual([]);
  if (isRecording) {
    const record = JSON.stringify({ hashes: [...recorded].sort() }, undefined, 2);
    writeFileSync(recordPath, `${record}\n`);
  }
});

test('the check sees composed patterns, and finds those that take longer', () => {
  const lines = [
    "const part = '(?:[ \\\\t]*,[ \\\\t]*)*';",
    `const composed = new RegExp(\`^a\${part}$\`);`,
    'const literal = /(?:a|a)*$/;',
  ];
  const patterns = patternsOf({ path: 'src/invented.ts', lines, imports: [] });
  expect(patterns.map(({ source }) => source)).toEqual(['^a(?:[ \\t]*,[ \\t]*)*$', '(?:a|a)*$']);
  expect(faults(patterns)).toHaveLength(2);
  const hidden = ['export function f(text: string) { return new RegExp(text); }'];
  expect(() => patternsOf({ path: 'src/hidden.ts', lines: hidden, imports: [] })).toThrow('hidden');
});
