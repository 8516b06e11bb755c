// The bytes that quotas count for a file in addition to its content (src/domain/buckets/quota.ts)
// match the stable memory that it uses, for each kind of file: nobody can fill the canister with
// names, tags and headers that no quota counts, and no quota is reached long before the memory is
// used.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { storedHeaderNames } from '../../packages/wire/src/stored-headers.ts';
import { overheadBytesOf } from '../../src/domain/buckets/quota.ts';
import { noStoredHeaders, type StoredHeaders } from '../../src/domain/shared/stored-headers.ts';
import {
  type CertifiedCanister,
  openCertifiedCanister,
} from '../support/certification/certified-canister.ts';
import type { Field } from '../support/certification/verdict.ts';
import { plainMetadata, testPicture } from '../support/domain-fixture.ts';
import { installNodeText } from '../support/memory-stores.ts';
import { ownReplica } from '../support/network/test-network.ts';
import { sha256Hex } from '../support/service.ts';

installNodeText();

let canister: CertifiedCanister;
/** Smaller than any page of a structure, so that unused space in pages hardly counts. */
const blockBytes = 256;
const zeros = Buffer.alloc(blockBytes);

beforeAll(async () => {
  canister = await openCertifiedCanister();
});

afterAll(() => canister?.stop());

/** Returns the bytes of stable memory in use: memory that was never written is zero. */
function usedBytes(): number {
  const memory = ownReplica(canister).stableMemory(canister.canisterId);
  const bytes = Buffer.from(memory.read(0, memory.bytes));
  let used = 0;
  for (let at = 0; at < bytes.length; at += blockBytes) {
    if (bytes.compare(zeros, 0, blockBytes, at, at + blockBytes) !== 0) used += blockBytes;
  }
  return used;
}

interface Kind {
  readonly name: string;
  readonly files: number;
  readonly size: number;
  readonly pathOf: (number: string) => string;
  readonly tags?: readonly string[];
  readonly headers?: StoredHeaders;
  /** Bytes of the thumbnail, if each file has one. */
  readonly pictureBytes?: number;
}

const long = 'x'.repeat(1_000);
const kinds: readonly Kind[] = [
  { name: 'of no bytes, with a short path', files: 100, size: 0, pathOf: (number) => `e${number}` },
  {
    name: 'of 100 bytes, in a folder, with two tags',
    files: 80,
    size: 100,
    pathOf: (number) => `photos/2026/11/IMG_${number}.jpg`,
    tags: ['sea', 'sun'],
  },
  {
    name: 'with 20 short tags, in a folder of its own',
    files: 40,
    size: 100,
    pathOf: (number) => `t/${number}/a`,
    tags: Array.from({ length: 20 }, (_, index) => `${index}`),
  },
  {
    name: 'with a path of 1,024 bytes and 20 long tags',
    files: 30,
    size: 100,
    pathOf: (number) => `${number}${'p'.repeat(1_020)}`,
    tags: Array.from({ length: 20 }, (_, index) => `${index}`.padEnd(64, 't')),
  },
  {
    name: 'with a path of 300 segments that no other file has',
    files: 40,
    size: 100,
    pathOf: (number) => `${number}/${'ab/'.repeat(298)}c`,
  },
  {
    name: 'with long headers',
    files: 40,
    size: 100,
    pathOf: (number) => `h${number}`,
    headers: [long, long, long, long],
  },
  {
    name: 'with a thumbnail of 600 bytes',
    files: 80,
    size: 100,
    pathOf: (number) => `photos/2026/11/IMG_${number}.jpg`,
    pictureBytes: 600,
  },
];

/**
 * Returns the bytes that a file takes in addition to its content. Does not count the first file,
 * which may also take what all files share; the others follow in scattered order.
 */
async function growthOf({
  files,
  size,
  pathOf,
  tags = [],
  headers = noStoredHeaders,
  pictureBytes,
}: Kind): Promise<number> {
  const fields: Field[] = [['content-type', plainMetadata.contentType]];
  if (tags.length > 0) fields.push(['x-file-tags', tags.join(',')]);
  for (const [place, value] of headers.entries()) {
    fields.push([storedHeaderNames[place] ?? '', value]);
  }
  const put = async (number: number) => {
    const path = pathOf(`${number}`.padStart(4, '0'));
    const bytes = Buffer.alloc(size, 1);
    await canister.put(path, bytes, fields);
    if (pictureBytes === undefined) return;
    const url = `/api/v1/bucket/demo/thumbnails/${path}`;
    const body = testPicture(pictureBytes - 12);
    const tag: Field = ['if-match', `"${sha256Hex(bytes)}"`];
    await canister.change({ method: 'PUT', url, body, headers: [tag] });
  };
  await put(9_999);
  const before = usedBytes();
  for (let number = 0; number < files; number++) await put((number * 7_919) % 9_998);
  return (usedBytes() - before) / files - size;
}

test.each(kinds)('overheadBytesOf() matches the memory of a file $name', async (kind) => {
  const grown = await growthOf(kind);
  const { tags = [], headers = noStoredHeaders, pathOf, pictureBytes } = kind;
  const thumbnail = pictureBytes === undefined ? undefined : { size: pictureBytes };
  const path = pathOf('0001');
  const named = { ...plainMetadata, headers, bucketId: 'demo', path, tags, thumbnail };
  const counted = overheadBytesOf(named);
  const words = `${counted} bytes are counted, ${Math.round(grown)} taken`;
  expect(counted / grown, words).toBeGreaterThan(0.7);
  expect(counted / grown, words).toBeLessThan(2);
});
