// The official age decrypts files that the client encrypts, and the reverse.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeHeader, openHeader } from '../../packages/client/src/age/header.ts';
import { openedAge, readOpened, readPrefix } from '../../packages/client/src/age/opened-file.ts';
import { sealedSource } from '../../packages/client/src/age/sealed-source.ts';
import { openSource } from '../../packages/client/src/bytes/upload-source.ts';
import { nodeSegmentCipher } from '../../packages/client/src/node/segment-cipher.ts';
import { sampleBytes } from '../support/service.ts';
import { runUntilDone } from './support/run-program.ts';

let folder: string;
let identity: string;
let recipient: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'age-'));
  await run('age-keygen', '-o', 'key.txt');
  const text = await readFile(join(folder, 'key.txt'), 'utf8');
  identity = /^AGE-SECRET-KEY-1\S+$/m.exec(text)?.[0] ?? '';
  recipient = /age1\S+/.exec(text)?.[0] ?? '';
});

afterAll(() => rm(folder, { recursive: true, force: true }));

async function run(...command: [string, ...string[]]): Promise<void> {
  await runUntilDone(command, { folder, times: 1 });
}

const lengths = [0, 1, 65_535, 65_536, 65_537, 5_000_000, 200_000_000];

test.each(lengths)('age decrypts %i bytes by the client, and the reverse', async (length) => {
  const plain = sampleBytes('official', length);
  const header = await makeHeader({ recipients: [recipient] });
  const opened = await openSource(plain, { size: length, bufferedBytesMax: 0 });
  const source = await sealedSource(opened, header, nodeSegmentCipher);
  await writeFile(join(folder, 'own.age'), await source.slice(0, source.size ?? 0));
  // age itself creates no empty file.
  await writeFile(join(folder, 'plain'), '');
  await run('age', '-d', '-i', 'key.txt', '-o', 'plain', 'own.age');
  expect(Buffer.compare(await readFile(join(folder, 'plain')), plain)).toBe(0);

  await run('age', '-r', recipient, '-o', 'theirs.age', 'plain');
  const theirs = await readFile(join(folder, 'theirs.age'));
  const file = {
    size: theirs.length,
    read: async (start: number, end: number) => theirs.subarray(start, end),
  };
  const prefix = await readPrefix(file);
  const opening = { identities: [identity], passphrases: [] };
  const fileKey = await openHeader(prefix.header, opening);
  const age = await openedAge({ prefix, size: file.size, fileKey }, nodeSegmentCipher);
  const read = await readOpened(age, file, { start: 0, end: age.size });
  expect(Buffer.compare(read, plain)).toBe(0);
});
