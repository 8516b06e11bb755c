// The certified answers of one file (IC spec, "HTTP Gateway Protocol", response verification v2),
// with one leaf for each certified request. The leaves form three levels, one per expression;
// file-tree.ts combines them. No header is named here: constants contain the hashes of names.
//
//   row  0 GET | 1 HEAD | 2 OPTIONS | 3 to 6 If-None-Match: GET and HEAD with the tag, then both
//        with W/ and the tag | 7 GET with Range from a part's start

import {
  constant, contentRangeOf, copyPair, emptyBody, emptyLeaf, fieldCount, firstRangeLabel, getMethod,
  headMethod, isFirstPart, lengthPair, noPair, optionsResponse, pairOf, pairsEnd, plainExpression,
  plainLabels, rangeExpression, rangeName, room, status200, status206, status304, tagExpression,
  tagHash, tagName, validatorCount, weakTagHash,
} from './file-pairs';
import { labelBase, labelOrderAt, labelStepsAt } from './heap';
import { sortEntries } from './label-change';
import { copyHash, writeLabeled } from './label-nodes';
import { hashAll, hashLater, paddedBytes } from './sha256-lanes';

export const rowCount: u32 = 8;
export const getRow: u32 = 0;
const headRow: u32 = 1;
const optionsRow: u32 = 2;
export const tagRow: u32 = 3;
export const partRow: u32 = 7;
const responseCount: u32 = 5;

const hashBytes: usize = 32;
const pairBytes: usize = 64;

const responsesAt: usize = labelStepsAt + pairsEnd;
const entriesAt: usize = responsesAt + <usize>responseCount * hashBytes;
/** For each row: request hash | hash of its subtree | hash of both. */
export const entryBytes: usize = 96;

let wanted: u32 = 0;

// @ts-ignore: decorator
@inline
export function entryOf(row: u32): usize {
  return labelBase() + entriesAt + <usize>row * entryBytes;
}

/** Returns the address of a row's response hash. */
export function responseOf(row: u32): usize {
  const response = row < tagRow ? row : row < partRow ? tagRow : tagRow + 1;
  return labelBase() + responsesAt + <usize>response * hashBytes;
}

// @ts-ignore: decorator
@inline
function isWanted(row: u32): bool { return (wanted >> row & 1) != 0; }

/** Computes the leaves of the rows in the bit mask. `parts`: the number of the file's parts. */
export function makeLeaves(rows: u32, body: usize, parts: u32): void {
  wanted = rows;
  const weakTag = weakTagHash();
  const isWhole = parts <= 1;
  const range = contentRangeOf(!isWhole && isWanted(getRow) || isWanted(partRow));
  const length = isWanted(headRow) ? lengthPair() : noPair;
  hashAll();
  const requests = room(<usize>rowCount << 2);
  for (let row = tagRow; row < partRow; row++) {
    const tag = row - tagRow < 2 ? tagHash() : weakTag;
    const method = (row - tagRow & 1) == 0 ? getMethod : headMethod;
    if (isWanted(row)) request(requests, row, method, tagName, tag);
  }
  const isLater = isWanted(partRow) && !isFirstPart();
  if (isLater) request(requests, partRow, getMethod, rangeName, range + pairBytes);
  const responses = room(<usize>rowCount << 2);
  const plain = plainExpression;
  if (isWanted(getRow)) {
    respond(responses, getRow, isWhole ? status200 : status206, plain, isWhole ? noPair : range);
  }
  if (isWanted(headRow)) respond(responses, headRow, status200, plain, length);
  if ((wanted >> tagRow & 15) != 0) respond(responses, tagRow, status304, tagExpression, noPair);
  if (isWanted(partRow)) respond(responses, partRow, status206, rangeExpression, range);
  hashAll();
  for (let row = tagRow; row < rowCount; row++) {
    if (row < partRow ? isWanted(row) : isLater) {
      const message = load<usize>(requests + (<usize>row << 2));
      copyHash(message + hashBytes, constant(emptyBody));
      hashLater(message, 2 * hashBytes, entryOf(row));
    }
  }
  for (let row: u32 = 0; row < rowCount; row++) {
    if (isAnswered(row)) {
      const message = load<usize>(responses + (<usize>row << 2));
      const hasBody = row == getRow || row == partRow;
      copyHash(message + hashBytes, hasBody ? body : constant(emptyBody));
      hashLater(message, 2 * hashBytes, responseOf(row));
    }
  }
  for (let row: u32 = 0; row < tagRow; row++) {
    copyHash(entryOf(row), constant(plainLabels) + <usize>row * hashBytes);
  }
  if (!isLater) copyHash(entryOf(partRow), constant(firstRangeLabel));
  copyHash(responseOf(optionsRow), constant(optionsResponse));
  copyPair(entryOf(optionsRow) + hashBytes, constant(optionsResponse) + hashBytes);
  hashAll();
  labelLeaves();
}

/** Whether the row needs its own response: rows 3 to 6 share one, and OPTIONS has a constant. */
function isAnswered(row: u32): bool {
  if (row == tagRow) return (wanted >> tagRow & 15) != 0;
  return isWanted(row) && row != optionsRow && (row < tagRow || row == partRow);
}

function labelLeaves(): void {
  for (let row: u32 = 0; row < rowCount; row++) {
    if (isAnswered(row)) {
      later(responseOf(row), constant(emptyLeaf), entryOf(row) + hashBytes);
    }
  }
  hashAll();
  for (let row: u32 = 0; row < rowCount; row++) {
    if (!isWanted(row) || row == optionsRow) continue;
    const entry = entryOf(row);
    if (row > tagRow && row < partRow) copyHash(entry + hashBytes, entryOf(tagRow) + hashBytes);
    later(entry, entry + hashBytes, entry + 2 * hashBytes);
  }
  hashAll();
}

/** Queues the hash of a 32-byte label over the subtree's hash. */
export function later(label: usize, hash: usize, digest: usize): void {
  const message = room(paddedBytes(52 + hashBytes));
  writeLabeled(message, label, hashBytes, hash);
  hashLater(message, 52 + hashBytes, digest);
}

/** Hashes the pairs; the space after the digest is for the body's digest and for padding. */
function hashPairs(messages: usize, row: u32, list: usize, count: u32): void {
  const order = labelBase() + labelOrderAt;
  sortEntries(list, pairBytes, count, pairBytes);
  const bytes = <usize>count * pairBytes;
  const message = room(paddedBytes(bytes));
  for (let i: u32 = 0; i < count; i++) {
    copyPair(message + <usize>i * pairBytes, load<usize>(order + (<usize>i << 2)));
  }
  const whole = room(paddedBytes(2 * hashBytes));
  store<usize>(messages + (<usize>row << 2), whole);
  hashLater(message, bytes, whole);
}

function request(messages: usize, row: u32, method: usize, name: usize, value: usize): void {
  const list = room(2 * pairBytes);
  copyPair(list, constant(method));
  copyHash(list + pairBytes, constant(name));
  copyHash(list + pairBytes + hashBytes, value);
  hashPairs(messages, row, list, 2);
}

/** A 304 only has the validators. */
function respond(messages: usize, row: u32, status: usize, expression: usize, own: usize): void {
  const fields = row == tagRow ? validatorCount() : fieldCount();
  const list = room(<usize>(fields + 3) * pairBytes);
  for (let i: u32 = 0; i < fields; i++) copyPair(list + <usize>i * pairBytes, pairOf(i));
  let end = list + <usize>fields * pairBytes;
  copyPair(end, constant(status));
  copyPair(end + pairBytes, constant(expression));
  end += 2 * pairBytes;
  if (own != noPair) {
    copyPair(end, own);
    end += pairBytes;
  }
  hashPairs(messages, row, list, <u32>((end - list) / pairBytes));
}
