// The operations that produce certified answers, with operands that JavaScript would not pass.

import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import {
  createCommand,
  type KernelCommand,
  kernelCall,
  kernelOperations,
} from '../../src/crypto/kernel.ts';
import { installNodeKernel } from '../support/kernel-host.ts';

const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest();
const constants = Buffer.concat(Array.from({ length: 29 }, (_, at) => sha256(`${at}`)));
const hashAsk = 0;
const treeAsk = 1;
const levelsAsk = 3;

let command: KernelCommand;

beforeEach(async () => {
  await installNodeKernel();
  command = createCommand(kernelOperations.fileTree, 4);
});

interface Asked {
  readonly ask?: number;
  readonly row?: number;
  readonly size?: number;
  readonly part?: number;
  readonly parts?: number;
  readonly validators?: number;
  readonly fields?: number;
  readonly text?: string | Uint8Array;
  readonly shared?: Uint8Array;
  readonly digest?: Uint8Array;
  readonly room?: number;
}

function run(asked: Asked): Uint8Array {
  const { ask = treeAsk, row = 0, size = 5, part = 0, parts = 1, validators = 1 } = asked;
  const { fields = 1, text = 'ETag\0"a"', shared = constants, digest = sha256('x') } = asked;
  const out = new Uint8Array(asked.room ?? 2_600);
  command.words.set([ask | (row << 8), size, 0, 5, 0, part, parts, validators, fields], 7);
  for (const bytes of [command.bytes, Buffer.from(text), shared, digest, out]) kernelCall(bytes);
  return out.subarray(0, command.words[6]);
}

test.each<[string, Asked]>([
  ['an unknown question', { ask: 4 }],
  ['an unknown row', { row: 8 }],
  ['a whole-file row for two parts', { parts: 2 }],
  ['the part of an empty file', { row: 7, parts: 0, size: 0 }],
  ['a part after the end', { ask: 2, row: 7, part: 1 }],
  ['no fields', { fields: 0, validators: 0, text: '' }],
  ['33 fields', { fields: 33, text: '\0'.repeat(65) }],
  ['more validators than fields', { validators: 2 }],
  ['too few texts', { fields: 2 }],
  ['too many texts', { text: 'ETag\0"a"\0' }],
  ['a name of 120 bytes', { text: `${'x'.repeat(120)}\0` }],
  ['a tag of 200 kB', { text: `a\0${'x'.repeat(200_000)}` }],
  ['other constants', { shared: constants.subarray(1) }],
  ['a digest of 31 bytes', { digest: new Uint8Array(31) }],
  ['too little room for a hash', { ask: hashAsk, room: 31 }],
  ['too little room for a tree', { room: 319 }],
  ['too little room for a row', { ask: 2, room: 71 }],
  ['too little room for levels', { ask: levelsAsk, room: 7 * 64 + 3 * 64 - 1 }],
])('kernelCall(): %s is refused', (_, asked) => {
  expect(() => run(asked)).toThrow('unreachable');
  expect(run({})).toHaveLength(run({}).length);
});

test('kernelCall(): field pairs are the hashes of any names and values', () => {
  const letters = fc.constantFrom(...'aZ-é@[`{😀'.split(''), 'AZ');
  const name = fc.stringMatching(/^[A-Za-z0-9@[`{-]{1,119}$/);
  const value = fc.oneof(
    fc.array(letters, { maxLength: 90 }).map((parts) => parts.join('')),
    fc.integer({ min: 0, max: 400 }).map((length) => 'v'.repeat(length)),
  );
  const list = fc.array(fc.tuple(name, value), { minLength: 1, maxLength: 32 });
  fc.assert(
    fc.property(list, (fields) => {
      const text = fields.flat().join('\0');
      const found = run({ ask: levelsAsk, text, fields: fields.length });
      const pairs = fields.flatMap(([name, value]) => [sha256(name.toLowerCase()), sha256(value)]);
      const start = 7 * 64;
      const bytes = Buffer.from(found.subarray(start, start + fields.length * 64));
      expect(bytes.equals(Buffer.concat(pairs))).toBe(true);
    }),
    { numRuns: 100 },
  );
});

test('kernelCall(): a header beyond its buffer, and a path of 66,000 bytes, are refused', () => {
  const header = createCommand(kernelOperations.certificateHeader, 4);
  const certificate = Uint8Array.of(1, 2, 3);
  const write = (path: Uint8Array, room: number) => {
    const out = new Uint8Array(room);
    for (const bytes of [header.bytes, certificate, certificate, path, out]) kernelCall(bytes);
    return Buffer.from(out.subarray(0, header.words[6])).toString();
  };
  const expected = 'certificate=:AQID:, tree=:AQID:, expr_path=:2dn3gmFhYA==:, version=2';
  expect(write(Buffer.from('a\0'), expected.length)).toBe(expected);
  expect(() => write(Buffer.from('a\0'), expected.length - 1)).toThrow('unreachable');
  expect(() => write(Buffer.alloc(66_000, 1), 200_000)).toThrow('unreachable');
});
