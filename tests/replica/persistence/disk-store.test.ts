// The state folder: lock, marker, modes, and the effects of a damaged journal or snapshot.

import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import type { StateStore } from '../../../packages/replica/src/core.ts';
import { writeAnsweredMark } from '../../../packages/replica/src/persistence/answered-mark.ts';
import { openDiskStore } from '../../../packages/replica/src/persistence/disk-store.ts';
import { PageCache } from '../../../packages/replica/src/persistence/page-cache.ts';
import {
  noPages,
  PageFile,
  type PageFileFacts,
} from '../../../packages/replica/src/persistence/page-file.ts';
import { removeState } from '../../../packages/replica/src/persistence/state-folder.ts';

const root = mkdtempSync(join(tmpdir(), 'replica-disk-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const id = 'rrkah-fqaaa-aaaaa-aaaaq-cai';
let count = 0;

function newFolder(): string {
  count += 1;
  return join(root, `state-${count}`);
}

function commit(store: StateStore, text: string): void {
  const memory = store.stableMemory(id);
  if (memory.pages() === 0) memory.grow(2);
  memory.write(4_090, Buffer.from(text));
  const canisters = [{ id, record: Buffer.from(text) }];
  store.commit({ canisters, stableMemories: [id], cleared: [], deleted: [] });
}

function content(store: StateStore): readonly [record: string, stable: string] {
  const record = Buffer.from(store.load()[0]?.record ?? []).toString();
  const bytes = Buffer.alloc(record.length);
  store.stableMemory(id).read(4_090, bytes);
  return [record, bytes.toString()];
}

/**
 * Makes three commits, and leaves the folder as a kill before the third answer would. Returns it
 * and the ends of the journal's records.
 */
function folderLeftByKill(): { readonly folder: string; readonly ends: readonly number[] } {
  const folder = newFolder();
  const store = openDiskStore(folder);
  const journal = join(folder, 'journal');
  const ends = ['one--', 'two--', 'three'].map((text) => {
    commit(store, text);
    return statSync(journal).size;
  });
  const kept = readFileSync(journal);
  store.close();
  rmSync(join(folder, 'snapshot'));
  rmSync(join(folder, 'canisters'), { recursive: true });
  writeFileSync(journal, kept);
  writeAnsweredMark(join(folder, 'answered'), 2);
  return { folder, ends };
}

function contentAfter(folder: string): readonly [string, string] {
  const store = openDiskStore(folder);
  try {
    return content(store);
  } finally {
    store.close();
  }
}

test('a page file discards the checksums of cleared memory', () => {
  const path = join(newFolder(), 'canister', 'stable');
  const cache = new PageCache(1_000_000);
  const open = (facts: PageFileFacts) => new PageFile(path, { cache, facts, onWrite: () => {} });
  const change = (firstPages: readonly number[], cleared: boolean) => ({
    canisterId: id,
    cleared,
    pages: 200,
    runs: firstPages.map((firstPage) => ({ firstPage, bytes: Buffer.alloc(4_096, 1) })),
  });
  const file = open(noPages);
  file.apply(change([0, 100, 2_000], false));
  file.checkpoint();
  file.apply(change([0], true));
  const facts = file.checkpoint();
  for (const each of [file, open(facts)]) {
    each.check();
    each.checkPages();
    const page = Buffer.alloc(4_096);
    for (const [number, byte] of [
      [0, 1],
      [100, 0],
      [2_000, 0],
    ] as const) {
      each.read(number * 4_096, page);
      expect(page).toEqual(Buffer.alloc(4_096, byte));
    }
    each.close();
  }
});

describe('the journal', () => {
  test('restores all commits after a kill, even if it is replayed twice', () => {
    const { folder } = folderLeftByKill();
    const kept = readFileSync(join(folder, 'journal'));
    expect(contentAfter(folder)).toEqual(['three', 'three']);
    writeFileSync(join(folder, 'journal'), kept);
    expect(contentAfter(folder)).toEqual(['three', 'three']);
  });

  test('can be replayed over page files that are newer than the snapshot', () => {
    const { folder } = folderLeftByKill();
    const kept = readFileSync(join(folder, 'journal'));
    openDiskStore(folder).close();
    rmSync(join(folder, 'snapshot'));
    writeFileSync(join(folder, 'journal'), kept);
    expect(contentAfter(folder)).toEqual(['three', 'three']);
  });

  test('drops a torn last record, wherever it is torn', () => {
    const { folder, ends } = folderLeftByKill();
    const kept = readFileSync(join(folder, 'journal'));
    const [, second = 0, third = 0] = ends;
    const lengths = [second + 1, second + 20, second + 28, second + 40, second + 2_000, third - 1];
    for (const length of lengths) {
      writeFileSync(join(folder, 'journal'), kept.subarray(0, length));
      rmSync(join(folder, 'snapshot'), { force: true });
      expect(contentAfter(folder)).toEqual(['two--', 'two--']);
    }
  });

  test('accepts new commits after a torn record was dropped', () => {
    const { folder, ends } = folderLeftByKill();
    truncateSync(join(folder, 'journal'), (ends[2] ?? 0) - 5);
    const store = openDiskStore(folder);
    commit(store, 'four-');
    store.close();
    expect(contentAfter(folder)).toEqual(['four-', 'four-']);
  });

  test('drops a last record whose blocks did not all reach the disk', () => {
    const { folder, ends } = folderLeftByKill();
    const kept = readFileSync(join(folder, 'journal'));
    kept.fill(0, (ends[1] ?? 0) + 512, ends[2]);
    writeFileSync(join(folder, 'journal'), kept);
    expect(contentAfter(folder)).toEqual(['two--', 'two--']);
  });

  test.each([
    ['payload', 3_000],
    ['header', 5],
    ['length', 13],
  ])('refuses to open with a corrupt %s in the middle, with the reason', (_, distance) => {
    const { folder, ends } = folderLeftByKill();
    const kept = readFileSync(join(folder, 'journal'));
    const position = (ends[0] ?? 0) + distance;
    kept[position] = (kept[position] ?? 0) ^ 0x40;
    writeFileSync(join(folder, 'journal'), kept);
    expect(() => openDiskStore(folder)).toThrow(/journal .* is corrupt at byte \d+/);
    // The lock was released, and the damaged file stays for repair.
    expect(existsSync(join(folder, 'lock'))).toBe(false);
    expect(readFileSync(join(folder, 'journal')).equals(kept)).toBe(true);
  });

  test('refuses a file of another format, and a gap between snapshot and journal', () => {
    const { folder } = folderLeftByKill();
    const kept = readFileSync(join(folder, 'journal'));
    writeFileSync(join(folder, 'journal'), 'text');
    expect(() => openDiskStore(folder)).toThrow(/is not a replica's journal/);
    writeFileSync(join(folder, 'journal'), kept);
    const store = openDiskStore(folder);
    store.close();
    const other = openDiskStore(folder);
    commit(other, 'four-');
    copyFileSync(join(folder, 'journal'), join(root, 'later-journal'));
    other.close();
    rmSync(join(folder, 'snapshot'));
    copyFileSync(join(root, 'later-journal'), join(folder, 'journal'));
    expect(() => openDiskStore(folder)).toThrow(/do not match/);
  });
});

describe('the state folder', () => {
  test('refuses a damaged snapshot', () => {
    const folder = newFolder();
    const store = openDiskStore(folder);
    commit(store, 'one--');
    store.close();
    appendFileSync(join(folder, 'snapshot'), 'x');
    expect(() => openDiskStore(folder)).toThrow(/snapshot .* is damaged/);
  });

  test('can be read only by the owner', () => {
    const folder = newFolder();
    const store = openDiskStore(folder);
    commit(store, 'one--');
    store.putModule('ab'.repeat(32), Uint8Array.of(1));
    store.close();
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const entry of entries) {
      const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777;
      expect(mode, entry.name).toBe(entry.isDirectory() ? 0o700 : 0o600);
    }
  });

  test('is used by one store at a time', () => {
    const folder = newFolder();
    const store = openDiskStore(folder);
    const owner = `in use by process ${process.pid}; stop it or use --state`;
    const message = `the state folder ${folder} is ${owner}`;
    expect(() => openDiskStore(folder)).toThrow(message);
    expect(() => removeState(folder)).toThrow(message);
    store.close();
    openDiskStore(folder).close();
  });

  test('is refused while another process uses it, and free once that process is killed', async () => {
    const folder = newFolder();
    const writer = fileURLToPath(new URL('./crash-writer.ts', import.meta.url));
    const child = spawn(process.execPath, ['--import', 'tsx', writer, folder, '1']);
    await new Promise((resolve) => child.stdout.once('data', resolve));
    expect(() => openDiskStore(folder)).toThrow(`in use by process ${child.pid};`);
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('close', resolve));
    openDiskStore(folder).close();
  });

  test.each([
    ['a process id that another process has now', { pid: process.pid, started: 'boot:1' }],
    ['a process that is gone', { pid: 2 ** 22 + 1, started: '' }],
  ])('takes over the lock of %s', (_, owner) => {
    const folder = newFolder();
    openDiskStore(folder).close();
    writeFileSync(join(folder, 'lock'), JSON.stringify(owner));
    openDiskStore(folder).close();
  });

  test('takes over a lock that a power cut emptied', () => {
    const folder = newFolder();
    openDiskStore(folder).close();
    writeFileSync(join(folder, 'lock'), '');
    openDiskStore(folder).close();
  });

  test('is not created in a folder that has other files', () => {
    const folder = newFolder();
    mkdirSync(folder);
    writeFileSync(join(folder, 'thesis.txt'), 'mine');
    expect(() => openDiskStore(folder)).toThrow(/not a replica's state folder .*thesis\.txt/);
    expect(() => removeState(folder)).toThrow(/not a replica's state folder/);
    expect(readdirSync(folder)).toEqual(['thesis.txt']);
  });

  test('removeState() deletes a whole state folder, and accepts a missing one', () => {
    const folder = newFolder();
    const store = openDiskStore(folder);
    commit(store, 'one--');
    store.close();
    removeState(folder);
    expect(existsSync(folder)).toBe(false);
    removeState(folder);
  });

  test('refuses names that point outside the folder', () => {
    const store = openDiskStore(newFolder());
    expect(() => store.stableMemory('../../elsewhere')).toThrow(/Not a canister id/);
    expect(() => store.getModule('../../elsewhere')).toThrow(/Not a SHA-256/);
    store.close();
  });

  test('accepts no commit after it is closed', () => {
    const store = openDiskStore(newFolder());
    store.close();
    store.close();
    expect(() => store.setValue('x', Uint8Array.of(1))).toThrow(/closed/);
  });

  test('stores values, and deletes a canister with its files', () => {
    const folder = newFolder();
    const store = openDiskStore(folder);
    commit(store, 'one--');
    store.setValue('root key', Uint8Array.of(1, 2));
    store.commit({ canisters: [], stableMemories: [], cleared: [], deleted: [id] });
    expect(readdirSync(join(folder, 'canisters'))).toEqual([]);
    store.close();
    const again = openDiskStore(folder);
    expect(again.load()).toEqual([]);
    expect(again.stableMemory(id).pages()).toBe(0);
    expect([...(again.getValue('root key') ?? [])]).toEqual([1, 2]);
    again.close();
  });
});

describe('a full disk', () => {
  test('refuses the commit that does not fit and accepts the next one that does', () => {
    const folder = newFolder();
    const writer = fileURLToPath(new URL('./full-disk-writer.ts', import.meta.url));
    // A limit on file sizes makes a write fail halfway, as a full disk does.
    const command = 'trap "" XFSZ; ulimit -f 700; exec "$0" --import tsx "$1" "$2"';
    const run = spawnSync('bash', ['-c', command, process.execPath, writer, folder], {
      encoding: 'utf8',
    });
    expect(run.stderr).toBe('');
    const [fitting, error, ...seen] = run.stdout.trim().split('\n');
    expect(fitting).toBe('2');
    expect(error).toMatch(/EFBIG/);
    expect(seen).toEqual(['after the failure: two--', 'after the small commit: small']);
    expect(contentAfter(folder)).toEqual(['small', 'small']);
  });
});
