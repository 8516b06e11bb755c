// Finds options of the client's functions that no example passes.

import { basename, join } from 'node:path';
import ts from 'typescript';
import { projectDir } from '../../tidy/source-tree.ts';
import { createTypedProgram } from './programs.ts';

const sources = join(projectDir, 'packages/client/src');

/**
 * Returns the options that no call in the program passes, as `Interface.option`: those of all
 * exported functions and of all methods of `Storage`. An option that several interfaces share
 * counts once.
 */
export function unusedOptions(program: string): string[] {
  const name = join(projectDir, 'examples.ts');
  const compiled = createTypedProgram(new Map([['examples.ts', program]]));
  const checker = compiled.getTypeChecker();
  const source = compiled.getSourceFile(name);
  const entry = compiled.getSourceFile(join(sources, 'node/index.ts'));
  const module = entry && checker.getSymbolAtLocation(entry);
  if (source === undefined || module === undefined) throw new Error('The program has no module');
  const options = checker
    .getExportsOfModule(module)
    .flatMap((symbol) => signaturesOf(symbol, checker))
    .flatMap((signature) => optionsOf(signature, checker));
  const declarations = new Set<ts.Node>();
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) for (const one of passedIn(node, checker)) declarations.add(one);
    ts.forEachChild(node, visit);
  };
  visit(source);
  const unused = options
    .flatMap((option) => option.declarations ?? [])
    .filter((declaration) => !declarations.has(declaration));
  return [...new Set(unused.map(nameOf))].sort();
}

/** Options of unnamed types are named after the file. */
function nameOf(declaration: ts.Node): string {
  const parent = declaration.parent;
  const owner = ts.isInterfaceDeclaration(parent)
    ? parent.name.text
    : basename(declaration.getSourceFile().fileName);
  return `${owner}.${(declaration as ts.PropertySignature).name.getText()}`;
}

/** Returns the signatures of a function, or of the methods of `Storage` and its groups. */
function signaturesOf(exported: ts.Symbol, checker: ts.TypeChecker): readonly ts.Signature[] {
  const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
  const symbol = isAlias ? checker.getAliasedSymbol(exported) : exported;
  if ((symbol.flags & ts.SymbolFlags.Value) !== 0) {
    return checker.getTypeOfSymbol(symbol).getCallSignatures();
  }
  const inGroup = (group: ts.Type): readonly ts.Signature[] =>
    checker.getPropertiesOfType(group).flatMap((member) => {
      const type = checker.getTypeOfSymbol(member);
      return type.getCallSignatures().length > 0 ? type.getCallSignatures() : inGroup(type);
    });
  return symbol.name === 'Storage' ? inGroup(checker.getDeclaredTypeOfSymbol(symbol)) : [];
}

function partsOf(type: ts.Type): readonly ts.Type[] {
  return type.isUnion() ? type.types : [type];
}

/** Returns the properties of the parameters that are declared in the client's sources. */
function optionsOf(signature: ts.Signature, checker: ts.TypeChecker): ts.Symbol[] {
  return signature.getParameters().flatMap((parameter) =>
    partsOf(checker.getNonNullableType(checker.getTypeOfSymbol(parameter)))
      .flatMap((part) => checker.getPropertiesOfType(part))
      .filter(({ declarations = [] }) =>
        declarations.every(
          (each) =>
            ts.isPropertySignature(each) && each.getSourceFile().fileName.startsWith(sources),
        ),
      ),
  );
}

/** Returns the declarations of the options in the call's arguments. */
function passedIn(call: ts.CallExpression, checker: ts.TypeChecker): ts.Node[] {
  const parameters = checker.getResolvedSignature(call)?.getParameters() ?? [];
  return call.arguments.flatMap((argument, index) => {
    const parameter = parameters[index];
    if (parameter === undefined) return [];
    const parts = partsOf(checker.getTypeOfSymbolAtLocation(parameter, call));
    const passed = checker.getPropertiesOfType(checker.getTypeAtLocation(argument));
    return passed.flatMap(({ name }) =>
      parts.flatMap((part) => checker.getPropertyOfType(part, name)?.declarations ?? []),
    );
  });
}
