// Reads the comments and the order of the interface's actor classes, methods and Candid types from
// src.

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import ts from 'typescript';

export interface Commented {
  readonly name: string;
  /** The lines of the comment; empty without one. */
  readonly comment: readonly string[];
}

export interface CommentedType extends Commented {
  readonly fields: readonly Commented[];
}

/** An actor class and its methods. */
export interface MethodGroup extends Commented {
  readonly methods: readonly Commented[];
}

export interface InterfaceComments {
  readonly groups: readonly MethodGroup[];
  readonly types: readonly CommentedType[];
}

/** The files of src/actor/candid with types, in the order of the interface. */
const typeFiles = [
  ...['end-to-end.ts', 'file-reads.ts', 'retention.ts', 'rules.ts', 'service.ts'],
  ...['types.ts', 'operations.ts', 'journal.ts', 'subscriptions.ts', 'http.ts'],
];

export async function readComments(projectDir: string): Promise<InterfaceComments> {
  const folder = join(projectDir, 'src', 'actor');
  const parse = async (path: string) =>
    ts.createSourceFile(path, await readFile(path, 'utf8'), ts.ScriptTarget.ES2022, true);
  const parseAll = (module: string, names: readonly string[]) =>
    Promise.all(names.map((name) => parse(join(folder, module, name))));
  const methodFiles = (await readdir(join(folder, 'methods'))).filter((name) =>
    name.endsWith('.ts'),
  );
  const groups = (await parseAll('methods', methodFiles)).flatMap(groupsOf);
  const index = await readFile(join(projectDir, 'src', 'index.ts'), 'utf8');
  // In the order in which src/index.ts lists the classes.
  groups.sort((left, right) => index.lastIndexOf(left.name) - index.lastIndexOf(right.name));
  const types = (await parseAll('candid', typeFiles)).flatMap(typesOf);
  return { groups, types };
}

function commentOf(node: ts.Node): string[] {
  const [comment] = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
  const text = comment && ts.getTextOfJSDocComment(comment.comment);
  return text === undefined || text === '' ? [] : text.split('\n');
}

function isMethodOfActor(node: ts.ClassElement): node is ts.MethodDeclaration {
  if (!ts.isMethodDeclaration(node)) return false;
  return (ts.getDecorators(node) ?? []).some(({ expression }) => {
    return (
      ts.isCallExpression(expression) && /^(?:query|update)$/.test(expression.expression.getText())
    );
  });
}

function groupsOf(source: ts.SourceFile): MethodGroup[] {
  return source.statements.filter(ts.isClassDeclaration).flatMap((node) => {
    const methods = node.members.filter(isMethodOfActor).map((method) => {
      return { name: method.name.getText(), comment: commentOf(method) };
    });
    const name = node.name?.text ?? '';
    return methods.length === 0 ? [] : [{ name, comment: commentOf(node), methods }];
  });
}

/** Finds `export const Name = IDL.Record({ … });`, also with a variant or a tuple. */
function typesOf(source: ts.SourceFile): CommentedType[] {
  return source.statements.filter(ts.isVariableStatement).flatMap((statement) => {
    const [declaration] = statement.declarationList.declarations;
    const value = declaration?.initializer;
    if (declaration === undefined || value === undefined || !ts.isCallExpression(value)) return [];
    if (!/^IDL\.(?:Record|Tuple|Variant)$/.test(value.expression.getText())) return [];
    const [shape] = value.arguments;
    const properties = shape !== undefined && ts.isObjectLiteralExpression(shape);
    const fields = (properties ? [...shape.properties] : []).map((field) => {
      return { name: field.name?.getText() ?? '', comment: commentOf(field) };
    });
    return [{ name: declaration.name.getText(), comment: commentOf(statement), fields }];
  });
}
