// Builds the value of the header by which a gateway verifies an answer (HTTP gateway specification,
// "Certificate header"): certificate, tree and path of the expression as Base64.

import { base64, base64Bytes } from './base64';
import { ensureLabelPages, labelBase, labelStepsAt, labelStepsBytes } from './heap';

const startBytes: usize = 13;
const treeBytes: usize = 9;
const pathBytes: usize = 14;
const endBytes: usize = 12;
/** Bytes of the tag and of the head of an array. */
const headBytes: usize = 6;

/** `path`: labels in UTF-8, separated by NUL. Returns the length; traps if `out` is too short. */
export function certificateHeader(
  certificate: usize, certificateLength: usize, witness: usize, witnessLength: usize,
  path: usize, pathLength: usize, out: usize, outLength: usize,
): u32 {
  ensureLabelPages();
  const encoded = labelBase() + labelStepsAt;
  const encodedLength = encodePath(path, pathLength, encoded);
  const length = startBytes + base64Bytes(certificateLength) + treeBytes
    + base64Bytes(witnessLength) + pathBytes + base64Bytes(encodedLength) + endBytes;
  if (length > outLength) unreachable();
  writeStart(out);
  let to = out + startBytes;
  base64(certificate, certificateLength, to);
  to += base64Bytes(certificateLength);
  writeTree(to);
  to += treeBytes;
  base64(witness, witnessLength, to);
  to += base64Bytes(witnessLength);
  writePath(to);
  to += pathBytes;
  base64(encoded, encodedLength, to);
  writeEnd(to + base64Bytes(encodedLength));
  return <u32>length;
}

/** Writes an array of texts as self-described CBOR (RFC 8949, 3.4.6). */
function encodePath(path: usize, length: usize, to: usize): usize {
  // A head has at most three bytes, one of which takes the place of a NUL
  if (headBytes + 3 * (length + 1) > labelStepsBytes) unreachable();
  const end = path + length;
  let labels: u32 = 1;
  for (let at = path; at < end; at++) labels += u32(load<u8>(at) == 0);
  store<u32>(to, 0xf7d9d9);
  let cursor = writeHead(to + 3, 0x80, labels);
  for (let start = path; start <= end;) {
    let at = start;
    while (at < end && load<u8>(at) != 0) at++;
    cursor = writeHead(cursor, 0x60, <u32>(at - start));
    if (at > start) memory.copy(cursor, start, at - start);
    cursor += at - start;
    start = at + 1;
  }
  return cursor - to;
}

/** Writes a major type and a length below 65,536 (RFC 8949, 3). */
function writeHead(to: usize, type: u32, length: u32): usize {
  if (length < 24) {
    store<u8>(to, type | length);
    return to + 1;
  }
  if (length < 256) {
    store<u8>(to, type | 24);
    store<u8>(to, length, 1);
    return to + 2;
  }
  if (length > 0xffff) unreachable();
  store<u8>(to, type | 25);
  store<u16>(to, bswap<u16>(<u16>length), 1);
  return to + 3;
}

function writeStart(to: usize): void {
  store<u64>(to, 0x6369666974726563); // "certific"
  store<u32>(to, 0x3d657461, 8); // "ate="
  store<u8>(to, 0x3a, 12); // ":"
}

function writeTree(to: usize): void {
  store<u64>(to, 0x3d65657274202c3a); // ":, tree="
  store<u8>(to, 0x3a, 8); // ":"
}

function writePath(to: usize): void {
  store<u64>(to, 0x5f72707865202c3a); // ":, expr_"
  store<u32>(to, 0x68746170, 8); // "path"
  store<u16>(to, 0x3a3d, 12); // "=:"
}

function writeEnd(to: usize): void {
  store<u64>(to, 0x6973726576202c3a); // ":, versi"
  store<u32>(to, 0x323d6e6f, 8); // "on=2"
}
