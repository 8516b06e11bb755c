// Leaves of a file's parts for certification: request hash and response hash of each part's 206 (IC
// spec, "HTTP Gateway Protocol", response verification v2). All parts have the same headers except
// Content-Range and Range, so the sorted pairs before Content-Range are hashed once.

import { ensureLabelPages, labelBase, labelOrderAt, labelStepsAt, labelsRoom } from './heap';
import { isLess, sortEntries } from './label-change';
import { copyHash, hashEmptyLeaf, hashLabeled } from './label-nodes';
import {
  sha256, sha256Finish, sha256Init, sha256InPlace, sha256StateBytes, sha256Update,
} from './sha256';

const hashBytes: usize = 32;
const pairBytes: usize = 64;

// Layout in the label pages: space for a pair, pairs in order, working values
const pairsAt: usize = labelStepsAt + 0x1000;
const textAt: usize = labelStepsAt;
const messageAt: usize = labelStepsAt + 0x100;
const rangeFirstAt: usize = labelStepsAt + 0x300;
const headAt: usize = labelStepsAt + 0x400;
const stateAt: usize = labelStepsAt + 0x500;
const emptyLeafAt: usize = labelStepsAt + 0x600;
const emptyBodyAt: usize = labelStepsAt + 0x640;

let totalBytes: u64 = 0;
/** Number of pairs after Content-Range, and the address of Content-Range's pair before them. */
let pairsBehind: usize = 0;
let contentRangePair: usize = 0;

/**
 * Writes for each part its request hash and the hash of its response hash as a label above an empty
 * leaf. `requestPairs`: name and value hash of the method, name hash of Range.
 */
export function partLeaves(
  pairs: usize, pairCount: u32, contentRangeName: usize, requestPairs: usize, digests: usize,
  parts: u32, partBytes: u64, total: u64, out: usize,
): void {
  if (pairCount >= labelsRoom || partBytes == 0 || total > 0xffff_ffff_ffff) unreachable();
  if (<u64>parts * partBytes < total || (<u64>parts - 1) * partBytes >= total) unreachable();
  ensureLabelPages();
  totalBytes = total;
  hashHead(pairs, pairCount, contentRangeName);
  hashEmptyLeaf(labelBase() + emptyLeafAt);
  sha256(0, 0, labelBase() + emptyBodyAt);
  for (let part: u32 = 0; part < parts; part++) {
    const start = <u64>part * partBytes;
    writeRequestHash(requestPairs, start, out);
    writeResponse(digests, start, min(start + partBytes, total) - 1, out + hashBytes);
    digests += hashBytes;
    out += pairBytes;
  }
}

/** Hashes all pairs before Content-Range and leaves the later ones in order. */
function hashHead(pairs: usize, count: u32, contentRangeName: usize): void {
  const order = labelBase() + labelOrderAt;
  const head = labelBase() + headAt;
  sortEntries(pairs, pairBytes, count, pairBytes);
  let before: u32 = 0;
  sha256Init(head);
  while (before < count) {
    const pair = load<usize>(order + (<usize>before << 2));
    if (!isLess(pair, contentRangeName, hashBytes)) break;
    sha256Update(head, pair, pairBytes);
    before++;
  }
  contentRangePair = labelBase() + pairsAt;
  copyHash(contentRangePair, contentRangeName);
  pairsBehind = <usize>(count - before);
  for (let i: usize = 0; i < pairsBehind; i++) {
    const pair = load<usize>(order + (<usize>before + i << 2));
    memory.copy(contentRangePair + (i + 1) * pairBytes, pair, pairBytes);
  }
}

/** Hashes a request with the Range `bytes={start}-` and without a body. */
function writeRequestHash(requestPairs: usize, start: u64, hash: usize): void {
  const text = labelBase() + textAt;
  store<u64>(text, 0x3d736574_7962); // "bytes="
  const end = writeDecimal(text + 6, start);
  store<u8>(end, 0x2d); // "-"
  const range = labelBase() + rangeFirstAt;
  copyHash(range, requestPairs + pairBytes);
  sha256InPlace(text, end + 1 - text, range + hashBytes);
  const message = labelBase() + messageAt;
  const isFirst = isLess(range, requestPairs, pairBytes);
  memory.copy(message, isFirst ? range : requestPairs, pairBytes);
  memory.copy(message + pairBytes, isFirst ? requestPairs : range, pairBytes);
  sha256InPlace(message, 2 * pairBytes, message);
  copyHash(message + hashBytes, labelBase() + emptyBodyAt);
  sha256InPlace(message, 2 * hashBytes, hash);
}

/**
 * Hashes a response with the Content-Range `bytes {start}-{last}/{total}` and the part's digest.
 */
function writeResponse(digest: usize, start: u64, last: u64, hash: usize): void {
  const text = labelBase() + textAt;
  store<u64>(text, 0x20736574_7962); // "bytes "
  let end = writeDecimal(text + 6, start);
  store<u8>(end, 0x2d); // "-"
  end = writeDecimal(end + 1, last);
  store<u8>(end, 0x2f); // "/"
  end = writeDecimal(end + 1, totalBytes);
  sha256InPlace(text, end - text, contentRangePair + hashBytes);
  const state = labelBase() + stateAt;
  const message = labelBase() + messageAt;
  memory.copy(state, labelBase() + headAt, sha256StateBytes);
  sha256Update(state, contentRangePair, (1 + pairsBehind) * pairBytes);
  sha256Finish(state, message);
  copyHash(message + hashBytes, digest);
  sha256InPlace(message, 2 * hashBytes, message);
  hashLabeled(message, hashBytes, labelBase() + emptyLeafAt, hash);
}

/** Returns the end of the written digits. */
export function writeDecimal(to: usize, value: u64): usize {
  let end = to + 1;
  for (let rest = value / 10; rest != 0; rest /= 10) end++;
  for (let at = end; at-- > to; value /= 10) store<u8>(at, 0x30 + <u8>(value % 10));
  return end;
}
