// Encrypts the segments of a chunk one by one and writes them to their slots. JavaScript would take
// 0.1 M instructions and a copy per segment. Nonce and associated data distinguish segments;
// src/domain/contents/segment-cipher.ts defines their layout.

import { seal } from './aead';
import { ensureSegmentPages, segmentBase } from './heap';
import { spaceWrite } from './stable-space';

const segmentBytesMax: usize = 65_536;
const associatedBytes: usize = 56;
const segmentIndexAt: usize = 12;
const isLastAt: usize = 20;
const tagBytes: usize = 16;

/** `slots`: the offset in the space for each segment, f64. The nonce is for the first segment. */
export function sealSegments(
  space: u32, segmentBytes: usize, key: usize, nonce: usize, associated: usize,
  data: usize, length: usize, slots: usize, count: usize,
): void {
  // Space 0 belongs to the rest of the canister
  if (space == 0 || segmentBytes == 0 || segmentBytes > segmentBytesMax) unreachable();
  if (count != (length + segmentBytes - 1) / segmentBytes) unreachable();
  ensureSegmentPages();
  const buffer = segmentBase();
  const first = load<u32>(nonce);
  for (let i: usize = 0; i < count; i++) {
    const start = i * segmentBytes;
    const bytes = min(segmentBytes, length - start);
    store<u32>(nonce, first + <u32>i);
    store<u32>(associated, <u32>i, segmentIndexAt);
    store<u32>(associated, u32(i + 1 == count), isLastAt);
    memory.copy(buffer, data + start, bytes);
    seal(key, nonce, associated, associatedBytes, buffer, bytes, buffer + bytes);
    spaceWrite(space, <u64>load<f64>(slots + (i << 3)), buffer, bytes + tagBytes);
  }
}
