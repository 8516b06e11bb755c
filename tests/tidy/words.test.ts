// Rules for sentences that a program can check: comments, pages and commits name the thing first,
// and use common terms.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { projectDir, readSources } from './source-tree.ts';

/** A relative clause as the subject is hard to read. */
const beginnings = /^(?:\*\*)?(?:What|Who|Of|That|Where)\b/;
const phrases = /\b(?:is none|is told|for who|to who|of who)\b/;
/** Commits from this one on must follow the rules; older ones are not checked. */
const firstCommit = 'bd7a513';
const subjectLengthMax = 72;

/** Pages that the build generates from sources, whose comments are checked there. */
const generatedPages = ['docs/reference/actor.md', 'docs/reference/command.md'];

const isClone = existsSync(join(projectDir, '.git'));

function isClear(sentence: string): boolean {
  const isQuestion = sentence.trimEnd().endsWith('?');
  return isQuestion || !(beginnings.test(sentence) || phrases.test(sentence));
}

/** Returns the text of a comment's line, a list item or a table row, or undefined for code. */
function commentIn(line: string): string | undefined {
  return /^\s*(?:\/\/|\/\*\*|\*(?!\/))\s?(.*)$/.exec(line)?.[1];
}

function pageText(line: string): string {
  return line.replace(/^\s*(?:[-|]|\d+\.)\s+/, '');
}

function git(...words: string[]): string[] {
  const text = execFileSync('git', words, { cwd: projectDir, encoding: 'utf8' });
  return text.split('\n').filter((line) => line !== '');
}

function unclearIn(path: string, textOf: (line: string) => string | undefined): string[] {
  return readFileSync(join(projectDir, path), 'utf8')
    .split('\n')
    .flatMap((line, index) =>
      isClear(textOf(line) ?? '') ? [] : [`${path}:${index + 1} ${line}`],
    );
}

describe('sentences', () => {
  test('isClear finds the forbidden constructions', () => {
    expect(isClear('What is stored of a file, altered or moved')).toBe(false);
    expect(isClear('Undefined for who did not sign')).toBe(false);
    expect(isClear('**What stays visible** to all')).toBe(false);
    expect(isClear('What does it cost?')).toBe(true);
    expect(isClear('Returns the stored file')).toBe(true);
  });

  test('comments name the thing first', () => {
    const unclear = readSources().flatMap(({ path }) => unclearIn(path, commentIn));
    expect(unclear).toEqual([]);
  });

  test.runIf(isClone)('pages name the thing first', () => {
    const pages = git('ls-files', '*.md').filter((path) => !generatedPages.includes(path));
    expect(pages.flatMap((path) => unclearIn(path, pageText))).toEqual([]);
  });

  test.runIf(isClone)('commit subjects are short', () => {
    const subjects = git('log', '--no-merges', '--format=%s', `${firstCommit}..HEAD`);
    const isShort = (text: string) => text.length <= subjectLengthMax && !text.includes(';');
    expect(subjects.filter((text) => !isShort(text))).toEqual([]);
  });
});
