// The client reads age's test vectors (C2SP/CCTV, from their npm package), except armored ones.

import { createHash } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import * as vectors from 'cctv-age';
import { expect, test } from 'vitest';
import { openHeader } from '../../packages/client/src/age/header.ts';
import { openedAge, openStream, readPrefix } from '../../packages/client/src/age/opened-file.ts';
import { nodeSegmentCipher } from '../../packages/client/src/node/segment-cipher.ts';
import { isStorageError } from '../../packages/client/src/storage-error.ts';

interface Vector {
  readonly name: string;
  readonly fields: ReadonlyMap<string, readonly string[]>;
  readonly file: Uint8Array;
}

function vectorOf([name, bytes]: [string, Uint8Array]): Vector {
  const text = Buffer.from(bytes).toString('latin1');
  const end = text.indexOf('\n\n');
  const fields = new Map<string, string[]>();
  for (const line of text.slice(0, end).split('\n')) {
    const [key = '', value = ''] = line.split(/: (.*)/s, 2);
    fields.set(key, [...(fields.get(key) ?? []), value]);
  }
  const body = bytes.subarray(end + 2);
  return { name, fields, file: fields.has('compressed') ? inflateSync(body) : body };
}

const usable = Object.entries(vectors as Record<string, Uint8Array>)
  .map(vectorOf)
  .filter(({ fields }) => !fields.has('armored'));

/** Returns the plaintext and the outcome. */
async function openVector({ fields, file }: Vector): Promise<[Buffer, string]> {
  const opened: Uint8Array[] = [];
  const sealed = {
    size: file.length,
    read: async (start: number, end: number) => file.subarray(start, end),
  };
  try {
    const prefix = await readPrefix(sealed);
    const fileKey = await openHeader(prefix.header, {
      identities: fields.get('identity') ?? [],
      passphrases: fields.get('passphrase') ?? [],
    });
    const age = await openedAge({ prefix, size: file.length, fileKey }, nodeSegmentCipher);
    // Yields one sealed segment at a time, as small parts of a download.
    const pieces = [file.subarray(age.payloadStart)][Symbol.iterator]();
    const stream = (async function* () {
      for (const bytes of pieces) {
        for (let at = 0; at < bytes.length; at += 65_552) yield bytes.subarray(at, at + 65_552);
      }
    })();
    for await (const part of openStream(age, { first: 0, beyond: age.segmentCount }, stream))
      opened.push(part);
    return [Buffer.concat(opened), 'success'];
  } catch (error) {
    if (!isStorageError(error)) throw error;
    return [Buffer.concat(opened), error.code];
  }
}

const codes: Readonly<Record<string, RegExp>> = {
  success: /^success$/,
  'no match': /^NoIdentity$/,
  'HMAC failure': /^IntegrityError$/,
  'header failure': /^(?:IntegrityError|NoIdentity)$/,
  'payload failure': /^IntegrityError$/,
};

test('openHeader(): there are more than 90 vectors', () => {
  expect(usable.length).toBeGreaterThan(90);
});

test.each(usable.map((vector) => [vector.name, vector] as const))('%s', async (_, vector) => {
  const [opened, outcome] = await openVector(vector);
  const [expected = ''] = vector.fields.get('expect') ?? [];
  expect(outcome).toMatch(codes[expected] ?? /^$/);
  if (expected !== 'success') return;
  const digest = createHash('sha256').update(opened).digest('hex');
  expect(digest).toBe(vector.fields.get('payload')?.[0]);
});
