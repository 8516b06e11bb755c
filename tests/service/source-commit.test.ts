// The commit that a build names: that of the last change of the sources, and none if the sources are
// not those of a commit.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sourceCommit } from '../../scripts/source-commit.ts';

const root = mkdtempSync(join(tmpdir(), 'source-commit-'));
const clone = join(root, 'clone');
const git = (...words: string[]) =>
  execFileSync('git', ['-C', clone, '-c', 'user.name=a', '-c', 'user.email=a@b.c', ...words])
    .toString()
    .trim();
const write = (path: string, text: string) => writeFileSync(join(clone, path), text);
const commitAll = () => {
  git('add', '-A');
  git('commit', '-qm', 'x');
  return git('rev-parse', 'HEAD');
};
const found = (folder = clone) => sourceCommit(folder, undefined);

beforeAll(() => {
  mkdirSync(join(clone, 'src'), { recursive: true });
  git('init', '-q');
  write('src/a.ts', '1');
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('sourceCommit()', () => {
  test('is the last commit that changed a source, whatever came later', async () => {
    const first = commitAll();
    expect(await found()).toEqual({ commit: first, reason: '' });
    write('README.md', 'text');
    expect(await found()).toEqual({ commit: first, reason: '' });
    commitAll();
    expect(await found()).toEqual({ commit: first, reason: '' });
    write('src/a.ts', '2');
    const second = commitAll();
    expect(await found()).toEqual({ commit: second, reason: '' });
  });

  test('is unknown while a source is changed or new', async () => {
    write('src/b.ts', '1');
    const reason = 'the sources have changes that no commit has';
    expect(await found()).toEqual({ commit: undefined, reason });
    commitAll();
    write('src/b.ts', '2');
    expect(await found()).toEqual({ commit: undefined, reason });
    git('checkout', '-q', '.');
  });

  test('is unknown in a shallow clone, in a folder of a clone, and without a clone', async () => {
    const shallow = join(root, 'shallow');
    execFileSync('git', ['clone', '-q', '--depth', '1', `file://${clone}`, shallow]);
    expect((await found(shallow)).reason).toContain('git fetch --unshallow');
    expect((await found(join(clone, 'src'))).reason).toBe('it is no clone');
    expect((await found(root)).reason).toContain('git is missing, or the folder is no clone');
  });

  test('is the one of EFS_COMMIT for a copy without git', async () => {
    const commit = 'c'.repeat(40);
    expect(await sourceCommit(root, commit)).toEqual({ commit, reason: '' });
    expect((await sourceCommit(clone, '')).commit).toBeUndefined();
    await expect(sourceCommit(clone, 'main')).rejects.toThrow('EFS_COMMIT must have 40');
  });
});
