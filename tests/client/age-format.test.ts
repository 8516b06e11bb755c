// The client's age files, checked with the library of age's author, and altered age files.

import {
  Decrypter,
  Encrypter,
  generateHybridIdentity,
  generateX25519Identity,
  identityToRecipient,
} from 'age-encryption';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  type FileHeader,
  makeHeader,
  type Opening,
  openHeader,
  requireFileKey,
} from '../../packages/client/src/age/header.ts';
import {
  openedAge,
  openStream,
  readOpened,
  readPrefix,
  type SealedFile,
} from '../../packages/client/src/age/opened-file.ts';
import { sealedSegmentBytes, segmentBytes } from '../../packages/client/src/age/payload.ts';
import { sealedSource } from '../../packages/client/src/age/sealed-source.ts';
import { softwareSegmentCipher } from '../../packages/client/src/age/segment-cipher.ts';
import { concatBytes } from '../../packages/client/src/bytes/bytes.ts';
import { openSource } from '../../packages/client/src/bytes/upload-source.ts';
import { nodeSegmentCipher } from '../../packages/client/src/node/segment-cipher.ts';
import type { SegmentCipher } from '../../packages/client/src/types/end-to-end.ts';
import { sampleBytes } from '../support/service.ts';

const sample = sampleBytes('age', 5 * segmentBytes);
const edges = [
  0,
  1,
  segmentBytes - 1,
  segmentBytes,
  segmentBytes + 1,
  2 * segmentBytes,
  4 * segmentBytes + 5,
];
const ciphers: readonly (readonly [string, SegmentCipher])[] = [
  ['node:crypto', nodeSegmentCipher],
  ['@noble/ciphers', softwareSegmentCipher],
];

let identity: string;
let recipients: string[];
let opening: Opening;

beforeAll(async () => {
  identity = await generateX25519Identity();
  recipients = [await identityToRecipient(identity)];
  opening = { identities: [identity], passphrases: [] };
});

async function allOf(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of stream) parts.push(part);
  return concatBytes(...parts);
}

function fileOf(bytes: Uint8Array): SealedFile {
  return { size: bytes.length, read: async (start, end) => bytes.subarray(start, end) };
}

async function* cutInto(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += length) {
    yield bytes.subarray(start, start + length);
  }
}

interface Sealed {
  readonly plain: Uint8Array;
  readonly chunkBytes: number;
  readonly cipher?: SegmentCipher;
  readonly header?: FileHeader;
  readonly isStream?: boolean;
}

/** Reads the source as an upload does: chunk by chunk, until one is short. */
async function sealedOf(sealed: Sealed): Promise<Uint8Array> {
  const { plain, chunkBytes, cipher = nodeSegmentCipher, isStream = false } = sealed;
  const header = sealed.header ?? (await makeHeader({ recipients }));
  const input = isStream ? cutInto(plain, 7_001) : plain;
  const opened = await openSource(input, { size: undefined, bufferedBytesMax: 0 });
  const source = await sealedSource(opened, header, cipher);
  const chunks: Uint8Array[] = [];
  for (let start = 0; ; start += chunkBytes) {
    const end = Math.min(start + chunkBytes, source.size ?? Number.POSITIVE_INFINITY);
    if (start >= end) break;
    const chunk = await source.slice(start, end);
    chunks.push(chunk.slice());
    if (chunk.length < chunkBytes) break;
  }
  return concatBytes(...chunks);
}

async function openAll(sealed: Uint8Array, cipher = nodeSegmentCipher, read = 50_000) {
  const file = fileOf(sealed);
  const prefix = await readPrefix(file);
  const fileKey = await openHeader(prefix.header, opening);
  const age = await openedAge({ prefix, size: sealed.length, fileKey }, cipher);
  const payload = sealed.subarray(age.payloadStart);
  const bytes = await allOf(
    openStream(age, { first: 0, beyond: age.segmentCount }, cutInto(payload, read)),
  );
  return { bytes, age, file };
}

describe.each(ciphers)('makeHeader(): with the cipher of %s', (_, cipher) => {
  test.each(edges)(
    "age's library opens the client's file of %i bytes, and the client opens age's",
    async (length) => {
      const plain = sample.subarray(0, length);
      const decrypter = new Decrypter();
      decrypter.addIdentity(identity);
      const own = await sealedOf({ plain, chunkBytes: 100_000, cipher });
      expect(Buffer.compare(await decrypter.decrypt(own), plain)).toBe(0);
      const encrypter = new Encrypter();
      for (const recipient of recipients) encrypter.addRecipient(recipient);
      const { bytes, age } = await openAll(await encrypter.encrypt(plain), cipher);
      expect(age.size).toBe(length);
      expect(Buffer.compare(bytes, plain)).toBe(0);
    },
  );
});

const length = fc.oneof(fc.constantFrom(...edges), fc.integer({ min: 0, max: sample.length }));

test('sealedSource(): chunks of any length, also from streams, form the same file', async () => {
  const header = await makeHeader({ recipients });
  await fc.assert(
    fc.asyncProperty(length, fc.integer({ min: 1_000, max: 200_000 }), async (size, chunkBytes) => {
      const plain = sample.subarray(0, size);
      const whole = await sealedOf({ plain, chunkBytes: 10 * sample.length, header });
      const chunked = await sealedOf({ plain, chunkBytes, header });
      const streamed = await sealedOf({ plain, chunkBytes, header, isStream: true });
      expect(Buffer.compare(chunked, whole)).toBe(0);
      expect(Buffer.compare(streamed, whole)).toBe(0);
    }),
    { numRuns: 25 },
  );
});

test('sealedSource(): slices can be requested in any order', async () => {
  const plain = sample;
  const header = await makeHeader({ recipients });
  const whole = await sealedOf({ plain, chunkBytes: 10 * sample.length, header });
  const opened = await openSource(plain, { size: undefined, bufferedBytesMax: 0 });
  const source = await sealedSource(opened, header, nodeSegmentCipher);
  const at = fc.integer({ min: 0, max: whole.length });
  await fc.assert(
    fc.asyncProperty(at, at, async (one, other) => {
      const [start, end] = [Math.min(one, other), Math.max(one, other)];
      const slice = await source.slice(start, end);
      expect(Buffer.compare(slice, whole.subarray(start, end))).toBe(0);
    }),
    { numRuns: 50 },
  );
});

test('readOpened(): a range equals the slice of the plaintext, and reads only the segments that cover it', async () => {
  const sealed = await sealedOf({ plain: sample, chunkBytes: 100_000 });
  const { age } = await openAll(sealed);
  const at = fc.integer({ min: 0, max: sample.length });
  await fc.assert(
    fc.asyncProperty(at, at, async (one, other) => {
      const [start, end] = [Math.min(one, other), Math.max(one, other)];
      if (start === end) return;
      let read = 0;
      const file: SealedFile = {
        size: sealed.length,
        read: async (from, to) => {
          read += to - from;
          return sealed.subarray(from, to);
        },
      };
      const bytes = await readOpened(age, file, { start, end });
      expect(Buffer.compare(bytes, sample.subarray(start, end))).toBe(0);
      expect(read).toBeLessThan(end - start + 2 * sealedSegmentBytes + 100);
    }),
    { numRuns: 100 },
  );
});

type Alteration = (sealed: Uint8Array, start: number) => Uint8Array;

function segmentAt(sealed: Uint8Array, start: number, index: number): Uint8Array {
  const at = start + index * sealedSegmentBytes;
  return sealed.subarray(at, at + sealedSegmentBytes);
}

const alterations: Readonly<Record<string, Alteration>> = {
  'two swapped segments': (sealed, start) =>
    concatBytes(
      sealed.subarray(0, start),
      segmentAt(sealed, start, 1),
      segmentAt(sealed, start, 0),
      sealed.subarray(start + 2 * sealedSegmentBytes),
    ),
  'a repeated segment': (sealed, start) =>
    concatBytes(
      sealed.subarray(0, start + sealedSegmentBytes),
      segmentAt(sealed, start, 0),
      sealed.subarray(start + sealedSegmentBytes),
    ),
  'a missing segment': (sealed, start) =>
    concatBytes(sealed.subarray(0, start), sealed.subarray(start + sealedSegmentBytes)),
  'a truncation between segments': (sealed, start) =>
    sealed.subarray(0, start + 2 * sealedSegmentBytes),
  'an empty last segment': (sealed) => concatBytes(sealed, new Uint8Array(16)),
};

describe('makeHeader(): any alteration is detected', () => {
  test.each(Object.entries(alterations))('%s', async (_, alter) => {
    const sealed = await sealedOf({ plain: sample, chunkBytes: 100_000 });
    const { age } = await openAll(sealed);
    await expect(openAll(alter(sealed, age.payloadStart))).rejects.toMatchObject({
      code: 'IntegrityError',
    });
  });

  test('a segment replaced by that of another file', async () => {
    const [one, other] = await Promise.all([
      sealedOf({ plain: sample, chunkBytes: 100_000 }),
      sealedOf({ plain: sample, chunkBytes: 100_000 }),
    ]);
    const { age } = await openAll(one);
    const spliced = one.slice();
    spliced.set(segmentAt(other, age.payloadStart, 2), age.payloadStart + 2 * sealedSegmentBytes);
    await expect(openAll(spliced)).rejects.toMatchObject({ code: 'IntegrityError' });
  });

  test('any flipped bit, and any truncation', async () => {
    const plain = sample.subarray(0, segmentBytes + 100);
    const sealed = await sealedOf({ plain, chunkBytes: 100_000 });
    const at = fc.oneof(
      fc.integer({ min: 0, max: 300 }),
      fc.integer({ min: 0, max: sealed.length - 1 }),
    );
    await fc.assert(
      fc.asyncProperty(
        at,
        fc.integer({ min: 0, max: 7 }),
        fc.boolean(),
        async (byte, bit, cuts) => {
          const altered = cuts ? sealed.subarray(0, byte) : sealed.slice();
          if (!cuts) altered[byte] = (altered[byte] ?? 0) ^ (1 << bit);
          const code = expect.stringMatching(/^(?:IntegrityError|NoIdentity)$/);
          await expect(openAll(altered)).rejects.toMatchObject({ code });
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe('makeHeader(): a header', () => {
  test('for several recipients is opened by each, also by post-quantum keys', async () => {
    const hybrid = await generateHybridIdentity();
    const header = await makeHeader({
      recipients: [...recipients, await identityToRecipient(hybrid)],
    });
    const bytes = header.prefix.subarray(0, -16);
    for (const one of [identity, hybrid]) {
      const fileKey = await openHeader(bytes, { identities: [one], passphrases: [] });
      expect(fileKey).toEqual(header.fileKey);
    }
  });

  test('is bound to one file key', async () => {
    const [one, other] = await Promise.all([
      makeHeader({ recipients }),
      makeHeader({ recipients }),
    ]);
    const header = one.prefix.subarray(0, -16);
    await requireFileKey(header, one.fileKey);
    const code = 'IntegrityError';
    await expect(requireFileKey(header, other.fileKey)).rejects.toMatchObject({ code });
  });

  test('for a passphrase is opened with that passphrase', async () => {
    const { prefix, fileKey } = await makeHeader({ passphrase: 'seven words', workFactor: 2 });
    const passphrases = ['another', 'seven words'];
    const bytes = prefix.subarray(0, -16);
    expect(await openHeader(bytes, { identities: [], passphrases })).toEqual(fileKey);
  });

  test('for other recipients is refused, and no error contains the identity', async () => {
    const { prefix } = await makeHeader({ recipients });
    const other = { identities: [await generateX25519Identity()], passphrases: [] };
    const error = await openHeader(prefix.subarray(0, -16), other).catch((caught) => caught);
    expect(error).toMatchObject({ code: 'NoIdentity' });
    const wrong = { identities: ['AGE-SECRET-KEY-1WRONG'], passphrases: [] };
    const refused = await openHeader(prefix.subarray(0, -16), wrong).catch((caught) => caught);
    expect(refused).toMatchObject({ code: 'InvalidArgument' });
    expect(String(refused.stack)).not.toContain('1WRONG');
  });

  test('of another format is refused with IntegrityError', async () => {
    const plain = fileOf(new TextEncoder().encode('hello world, in the clear'));
    await expect(readPrefix(plain)).rejects.toMatchObject({ code: 'IntegrityError' });
  });
});
