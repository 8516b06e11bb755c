// Names of tests for src, kernel and packages begin with the symbol, route or command that they
// test, in their own title or in that of an enclosing describe().

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { projectDir, readSources } from './source-tree.ts';

const isClone = existsSync(join(projectDir, '.git'));
/** Folders of tests that follow the rule. */
const folders =
  /^tests\/(?:actor|certification|client|crypto|domain|http|kernel|lib|packages|s3|storage)\//;
const route = /^(?:GET|PUT|POST|PATCH|DELETE|HEAD|OPTIONS) \//;
const command = /^(?:efs|npm|local-replica)[ :]/;
/**
 * A title with its call: indentation, kind, quote and text. The table of `.each` may span lines.
 */
const titlePattern = new RegExp(
  [
    String.raw`^( *)(describe|test|it)(?:\.\w+)*`,
    String.raw`(?:\((?:[^()\n]|\([^()\n]*\))*\)|\(\[\n(?:(?!\1\]).*\n)*\1\](?: as const)?\))?`,
    String.raw`(?:\.\w+)*\(\s*(['"\x60])((?:(?!\3)[^\\]|\\.)*)\3`,
  ].join(''),
  'gm',
);

interface Title {
  readonly indent: number;
  readonly isGroup: boolean;
  readonly text: string;
}

function titlesOf(source: string): Title[] {
  return [...source.matchAll(titlePattern)].map(([, indent = '', call, , text = '']) => {
    return { indent: indent.length, isGroup: call === 'describe', text };
  });
}

/** Returns the identifiers of the code, without comments. */
function symbolsOf(sources: readonly { path: string; text: string }[]): Set<string> {
  const code = sources.filter(({ path }) => !path.startsWith('tests/'));
  const names = code.flatMap(({ text }) =>
    text.replaceAll(/\/\/.*/g, '').match(/[A-Za-z_$][\w$]*/g),
  );
  return new Set(names.filter((name) => name !== null));
}

/** A plain English word counts as a symbol only with its parentheses, as `retry()`. */
function isNamed(title: string, symbols: ReadonlySet<string>): boolean {
  if (route.test(title) || command.test(`${title} `)) return true;
  const [word = ''] = /^[\w.$]*/.exec(title) ?? [];
  const isSymbol = /[a-z\d][A-Z]|_|\w\.\w/.test(word) || title.startsWith(`${word}()`);
  return isSymbol && symbols.has(word.split('.').findLast((part) => part !== '') ?? '');
}

/**
 * Returns titles of tests and outermost groups that neither name a symbol nor are inside one that
 * does.
 */
function unnamedIn(source: string, symbols: ReadonlySet<string>): string[] {
  const groups: { indent: number; isNamed: boolean }[] = [];
  const unnamed: string[] = [];
  for (const { indent, isGroup, text } of titlesOf(source)) {
    while ((groups.at(-1)?.indent ?? -1) >= indent) groups.pop();
    const named = isNamed(text, symbols) || groups.some((group) => group.isNamed);
    if (!named && !isGroup) unnamed.push(text);
    if (isGroup) groups.push({ indent, isNamed: named });
  }
  return unnamed;
}

describe('names of tests', () => {
  const symbols = new Set(['moveFiles', 'retry', 'copy']);

  test('unnamedIn() finds titles without a symbol', () => {
    const source = [
      "describe('moveFiles', () => {",
      "  test('refuses a prefix inside itself', () => {});",
      '});',
      "test('retry() waits longer each time', () => {});",
      "test('retry waits longer each time', () => {});",
      "describe('a move', () => {",
      "  test('keeps the tags', () => {});",
      "  test('GET /cloud serves the new path', () => {});",
      "  test('efs mv prints it', () => {});",
      "  test('copyAll() is not in the code', () => {});",
      '});',
    ].join('\n');
    expect(unnamedIn(source, symbols)).toEqual([
      'retry waits longer each time',
      'keeps the tags',
      'copyAll() is not in the code',
    ]);
  });

  test.runIf(isClone)('begin with a symbol, a route or a command', () => {
    const known = symbolsOf(readSources().map(({ path }) => ({ path, text: readText(path) })));
    const words = ['ls-files', 'tests/**/*.test.ts'];
    const listed = execFileSync('git', words, { cwd: projectDir, encoding: 'utf8' }).split('\n');
    const unnamed = listed
      .filter((path) => folders.test(path))
      .flatMap((path) => unnamedIn(readText(path), known).map((title) => `${path}: ${title}`));
    expect(unnamed).toEqual([]);
  });
});

function readText(path: string): string {
  return readFileSync(join(projectDir, path), 'utf8');
}
