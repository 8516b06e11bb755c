// The record of a file that version 0.1.0 stored: three bytes at `p` in bucket `box`.

import { startNs } from './domain-fixture.ts';

const digest = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
const unhex = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'));
export const oldFileDigest = unhex(digest);

export function oldFileRecord(): Uint8Array {
  const time = Buffer.from(BigUint64Array.of(startNs).buffer).toString('hex');
  const shown = '"2026-01-02T03:04:05.678Z"';
  const json =
    '{"id":"0000000000000003","bucketId":"box","path":"p","name":"p","size":3,"contentType":"a/b",' +
    `"tags":["x","y"],"etag":"${digest}","sha256":"${digest}","version":1,"createdAt":${shown},` +
    `"updatedAt":${shown},"url":"/cloud/box/p"}`;
  const head = `0317824f37ad3275df9ee6cde0fdf35a30${'0300000000000000'}${'0300000000000000'}`;
  const fields = `01${'0300000000000000'}${'0300000000000000'}${'03000000'}${'01000000'}`;
  const texts = Buffer.from('a/b\0c\0\0gzip\0de\0x\0y').toString('hex');
  return unhex(
    `${head}73010000${Buffer.from(json).toString('hex')}${fields}20${digest}` +
      `${'01000000'}${time}${time}${texts}`,
  );
}
