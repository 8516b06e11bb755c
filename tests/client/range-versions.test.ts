// A range that is read by the actor while the file is replaced: all its bytes are of one version.
// The service is replaced by its queries in memory.

import { IDL } from '@icp-sdk/core/candid';
import { beforeEach, describe, expect, test } from 'vitest';
import { callsWith } from '../../packages/client/src/actor/actor-call.ts';
import { resultOf } from '../../packages/client/src/actor/candid-interface.ts';
import type { Service } from '../../packages/client/src/actor/connection.ts';
import { fileCalls } from '../../packages/client/src/actor/files.ts';
import { transferCalls } from '../../packages/client/src/actor/transfers.ts';
import { piecesOf } from '../../packages/client/src/bytes/byte-stream.ts';
import type { Connection } from '../../packages/client/src/connection/connection.ts';
import { createLine } from '../../packages/client/src/connection/transfer-window.ts';
import { downloadFile } from '../../packages/client/src/downloads/download.ts';

const name = { bucket: 'demo', path: 'a.bin' };
const size = 4_000_000;
const retryPolicy = { attemptsMax: 1, delayMsMin: 1, delayMsMax: 1 };

interface Stored {
  readonly version: number;
  readonly etag: string;
  readonly bytes: Uint8Array;
}

const stored = (version: number, letter: string): Stored => ({
  ...{ version, etag: `tag of ${letter}` },
  bytes: new Uint8Array(size).fill(letter.charCodeAt(0)),
});

let file: Stored;
let asked: string[];
/** The answer to `readVersion` for a caller who may not read versions. */
let refusal: string | undefined;

beforeEach(() => {
  file = stored(1, 'a');
  asked = [];
  refusal = undefined;
});

const { Text, Nat, Opt } = IDL;

/** Answers `readFile` and `readVersion`. */
function read(method: string, argument: Uint8Array): object {
  asked.push(method);
  const isOfVersion = method === 'readVersion';
  const types = [Text, Text, ...(isOfVersion ? [Nat] : []), Nat, Nat, Opt(Text)];
  const values = IDL.decode(types, argument)
    .slice(2, isOfVersion ? 5 : 4)
    .map(Number);
  if (isOfVersion && refusal !== undefined) return { err: refusal };
  if (isOfVersion && values.shift() !== file.version) return { err: 'NoSuchFile: no version' };
  const [offset = 0, length = 0] = values;
  return { ok: file.bytes.subarray(offset, offset + length) };
}

function opened(identity: object | undefined): Connection {
  const getFile = async () => {
    asked.push('getFile');
    const { version, etag } = file;
    const record = {
      version: BigInt(version),
      etag,
      size: BigInt(size),
      chunkSize: [BigInt(size)],
    };
    const times = { createdAt: 0n, updatedAt: 0n };
    return {
      ok: { ...record, ...times, sha256: [], metadata: [], retention: [], contentType: 'a/b' },
    };
  };
  const agent = {
    async query(_: unknown, { methodName, arg }: { methodName: string; arg: Uint8Array }) {
      const type = resultOf(IDL.Vec(IDL.Nat8));
      const reply = IDL.encode([type], [read(methodName, arg)]);
      return { status: 'replied', reply: { arg: reply } };
    },
  };
  const service = { actor: { getFile }, agent, canisterId: 'aaaaa-aa', key: [], largeCaller: {} };
  const calls = callsWith({ ...service, largeCaller: { identity } } as unknown as Service, {
    ...fileCalls,
    ...transferCalls,
  });
  const transport = { ...calls, line: createLine(), readsByLinks: false };
  return { transport, retryPolicy, contentTypeOf: () => undefined } as unknown as Connection;
}

async function readRange(connection: Connection, afterFirst: () => void): Promise<Uint8Array[]> {
  const options = { range: { start: 0, end: size }, concurrency: 1 };
  const { body } = await downloadFile(connection, name, options);
  const pieces: Uint8Array[] = [];
  for await (const piece of piecesOf(body)) {
    pieces.push(piece);
    if (pieces.length === 1) afterFirst();
  }
  return pieces;
}

const callers: Readonly<Record<string, () => void>> = {
  'who may read versions': () => {},
  'who may only read the public file': () => {
    refusal = 'AccessDenied: The caller has no read right.';
  },
};

describe.each(Object.keys(callers))('downloadFile() of a range for a caller %s', (caller) => {
  beforeEach(() => callers[caller]?.());

  test('fails with PreconditionFailed if the file is replaced while it is read', async () => {
    const replaced = readRange(opened({}), () => {
      file = stored(2, 'b');
    });
    await expect(replaced).rejects.toMatchObject({ code: 'PreconditionFailed' });
  });

  test('returns the bytes if the same bytes are stored again while they are read', async () => {
    const pieces = await readRange(opened({}), () => {
      file = stored(2, 'a');
    });
    expect(Buffer.compare(Buffer.concat(pieces), file.bytes)).toBe(0);
  });
});

test('downloadFile() of a range takes one query for each part', async () => {
  await readRange(opened({}), () => {});
  expect(asked).toEqual(['getFile', 'readVersion', 'readVersion', 'readVersion']);
});
