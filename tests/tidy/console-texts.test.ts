// Texts of the console are in `console/src/texts`, one file for each language. Literals in elements
// and in attributes that people see or hear are found here.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { projectDir, readSources } from './source-tree.ts';

const seenAttributes = new Set([
  'alt',
  'aria-description',
  'aria-label',
  'aria-roledescription',
  'aria-valuetext',
  'hint',
  'label',
  'placeholder',
  'title',
  'underWay',
  'words',
]);
/** Functions that show their first argument. */
const tellers = new Set(['tell', 'Error']);
/** Names that are the same in every language. */
const names = new Set(['SHA-256', 'Cache-Control']);
/** Errors that developers see: another message replaces them on the page. */
const unseen = new Set(['The texts are not loaded.', 'This link does not belong to this service.']);

/** A word of two letters; templates are judged by their fixed parts. */
function isText(text: string): boolean {
  return /\p{L}{2}/u.test(text) && !names.has(text.trim()) && !unseen.has(text);
}

function fixedParts(node: ts.Node): string[] {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (!ts.isTemplateExpression(node)) return [];
  return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)];
}

/** Returns the literals that an expression can become, not those that it is compared with. */
function literalsOf(node: ts.Node): ts.Node[] {
  if (ts.isConditionalExpression(node)) {
    return [...literalsOf(node.whenTrue), ...literalsOf(node.whenFalse)];
  }
  if (ts.isBinaryExpression(node)) {
    const operator = node.operatorToken.getText();
    const left = ['+', '??', '||'].includes(operator) ? literalsOf(node.left) : [];
    return operator === '&&' || left.length > 0 ? [...left, ...literalsOf(node.right)] : [];
  }
  if (ts.isParenthesizedExpression(node)) return literalsOf(node.expression);
  return [node];
}

/** Returns the expression that a node shows to people, if it shows one. */
function shownBy(node: ts.Node): ts.Node | undefined {
  if (ts.isJsxText(node)) return node;
  if (ts.isJsxAttribute(node)) {
    const value = node.initializer;
    if (!seenAttributes.has(node.name.getText())) return undefined;
    return value && ts.isJsxExpression(value) ? value.expression : value;
  }
  if (ts.isJsxExpression(node) && !ts.isJsxAttribute(node.parent)) return node.expression;
  if (ts.isPropertyAssignment(node)) {
    return seenAttributes.has(node.name.getText()) ? node.initializer : undefined;
  }
  if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
    return tellers.has(node.expression.getText()) ? node.arguments?.[0] : undefined;
  }
  if (ts.isBinaryExpression(node)) {
    return node.left.getText() === 'document.title' ? node.right : undefined;
  }
  return undefined;
}

function textsIn(path: string, text: string): string[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true, ts.ScriptKind.TSX);
  const found: string[] = [];
  function visit(node: ts.Node): void {
    const shown = shownBy(node);
    const literals = shown === undefined ? [] : literalsOf(shown);
    const words = literals.flatMap((one) => (ts.isJsxText(one) ? [one.text] : fixedParts(one)));
    for (const word of words.filter(isText)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      found.push(`${path}:${line + 1} ${word.trim()}`);
    }
    ts.forEachChild(node, visit);
  }
  visit(source);
  return found;
}

test('no view of the console contains a text', () => {
  const views = readSources().filter(({ path }) => /^console\/src\/(?!texts\/)/.test(path));
  expect(views.length).toBeGreaterThan(50);
  expect(views.flatMap(({ path, lines }) => textsIn(path, lines.join('\n')))).toEqual([]);
});

test('index.html contains no text except the title, which the page replaces', () => {
  const page = readFileSync(join(projectDir, 'console', 'index.html'), 'utf8');
  const texts = page.replace(/<title>Files<\/title>/, '').replaceAll(/<[^>]*>/g, '');
  expect(texts.trim()).toBe('');
});

test('a planted text is found in an element, an attribute, a property, a notice and an error', () => {
  const planted = [
    'const one = <p>Loading it</p>;',
    'const two = <p>{isLoading ? "Wait" : words.done}</p>;',
    'const three = <button aria-label={"Remove " + name}>{words.remove}</button>;',
    'const four = <Field label="Name" value={name} />;',
    "const five = { label: 'Undo', run };",
    "tell('Saved.');",
    "throw new Error('The name is empty.');",
    "document.title = 'Files';",
    'const fine = <a class="button" href="#/service">{words.service}, {size}</a>;',
    'const command = <CopyText text={"efs rm " + path} label={words.copy} />;',
    'const part = <p>{state === "paused" && <b>{words.pause}</b>}</p>;',
  ];
  expect(textsIn('a.tsx', planted.join('\n'))).toEqual([
    'a.tsx:1 Loading it',
    'a.tsx:2 Wait',
    'a.tsx:3 Remove',
    'a.tsx:4 Name',
    'a.tsx:5 Undo',
    'a.tsx:6 Saved.',
    'a.tsx:7 The name is empty.',
    'a.tsx:8 Files',
  ]);
});
