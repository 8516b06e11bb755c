// HMAC with SHA-256 (RFC 2104), native because combining key and pads is a loop over bytes, and
// HKDF-Expand (RFC 5869, 2.3).

import {
  expansionAt, expansionInfoMax, heapBase, hmacPadAt, hmacStateAt, wipeSecrets,
} from './heap';
import { sha256, sha256Finish, sha256Init, sha256Update } from './sha256';

const innerPad: u8 = 0x36;
const outerPad: u8 = 0x5c;
const blockBytes: usize = 32;

export function hmacSha256(
  key: usize, keyLength: usize, data: usize, length: usize, mac: usize,
): void {
  const pad = heapBase() + hmacPadAt;
  memory.fill(pad, 0, 64);
  if (keyLength > 64) sha256(key, keyLength, pad);
  else if (keyLength != 0) memory.copy(pad, key, keyLength);
  xorPad(pad, innerPad);
  const state = heapBase() + hmacStateAt;
  sha256Init(state);
  sha256Update(state, pad, 64);
  sha256Update(state, data, length);
  sha256Finish(state, mac);
  xorPad(pad, innerPad ^ outerPad);
  sha256Init(state);
  sha256Update(state, pad, 64);
  sha256Update(state, mac, 32);
  sha256Finish(state, mac);
  wipeSecrets();
}

/** T(i) = HMAC(key, T(i - 1) | info | i), for up to 255 blocks. */
export function expand(
  key: usize, keyLength: usize, info: usize, infoLength: usize, out: usize, length: usize,
): void {
  if (infoLength > expansionInfoMax || length > 255 * blockBytes) unreachable();
  const message = heapBase() + expansionAt;
  const counter = message + blockBytes + infoLength;
  if (infoLength > 0) memory.copy(message + blockBytes, info, infoLength);
  for (let done: usize = 0, index: u32 = 1; done < length; done += blockBytes, index++) {
    store<u8>(counter, index);
    const start = index == 1 ? message + blockBytes : message;
    hmacSha256(key, keyLength, start, counter + 1 - start, message);
    memory.copy(out + done, message, min(blockBytes, length - done));
  }
  memory.fill(message, 0, counter + 1 - message);
}

function xorPad(pad: usize, value: u8): void {
  for (let i: usize = 0; i < 64; i += 16) {
    v128.store(pad + i, v128.xor(v128.load(pad + i), i8x16.splat(value)));
  }
}
