// HMAC with SHA-256 (RFC 2104), native because combining key and pads is a loop over bytes.

import { heapBase, hmacPadAt, hmacStateAt, wipeSecrets } from './heap';
import { sha256, sha256Finish, sha256Init, sha256Update } from './sha256';

const innerPad: u8 = 0x36;
const outerPad: u8 = 0x5c;

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

function xorPad(pad: usize, value: u8): void {
  for (let i: usize = 0; i < 64; i += 16) {
    v128.store(pad + i, v128.xor(v128.load(pad + i), i8x16.splat(value)));
  }
}
