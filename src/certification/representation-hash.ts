// Request and response hashes of response verification version 2. HTTP gateway specification,
// "Request hash calculation", "Response hash calculation"; the hash of a map is the
// representation-independent hash of the IC specification. Names come in lower case. Copies into
// buffers of its own: joining arrays costs as much as hashing them.

import { sha256 } from '../crypto/hash.ts';
import { byteString, emptyBytes } from '../lib/bytes.ts';
import { encodeUtf8 } from '../lib/text.ts';

export type Field = readonly [name: string, value: string];

/** SHA-256 of the name and of the value, 64 bytes, by which a map's pairs are sorted and hashed. */
export interface Pair {
  readonly bytes: Uint8Array;
  /** Sorts as the name's hash does. */
  readonly order: string;
}

interface Name {
  readonly hash: Uint8Array;
  readonly order: string;
}

const hashBytes = 32;
const pairBytes = 64;
const pairsMax = 24;
const mapBuffer = new Uint8Array(pairsMax * pairBytes);
const messageBuffer = new Uint8Array(2 * hashBytes);

// What does not change is kept. Filled by remember() alone: queries forget what they have added.
const names = new Map<string, Name>();
const constants = new Map<string, Pair>();
const statusName = ':ic-cert-status';

/** Hashes names, and pairs where there is a value, for all later messages. */
export function remember(fields: readonly Field[]): void {
  for (const field of fields) {
    const [name, value] = field;
    names.set(name, nameOf(name));
    if (value !== '') constants.set(`${name}:${value}`, fieldPair(field));
  }
}

export function rememberStatus(status: number): void {
  names.set(statusName, nameOf(statusName));
  constants.set(`${statusName}:${status}`, statusPair(status));
}

function nameOf(text: string): Name {
  const known = names.get(text);
  if (known !== undefined) {
    return known;
  }
  const hash = sha256(encodeUtf8(text));
  return { hash, order: byteString(hash) };
}

/** SHA-256 of a name. */
export function nameHash(name: string): Uint8Array {
  return nameOf(name).hash;
}

function valuePair(nameText: string, value: Uint8Array): Pair {
  const { hash, order } = nameOf(nameText);
  const bytes = new Uint8Array(pairBytes);
  bytes.set(hash);
  bytes.set(sha256(value), hashBytes);
  return { bytes, order };
}

/** `name` in lower case. */
export function fieldPair([name, value]: Field): Pair {
  return constants.get(`${name}:${value}`) ?? valuePair(name, encodeUtf8(value));
}

/** The same of header fields; all values are encoded at once where they are ASCII. */
export function headerPairs(fields: readonly Field[]): Pair[] {
  const pairs: Pair[] = [];
  const missing: Field[] = [];
  let joined = '';
  for (const [anyName, value] of fields) {
    const name = anyName.toLowerCase();
    const known = constants.get(`${name}:${value}`);
    if (known !== undefined) {
      pairs.push(known);
    } else {
      missing.push([name, value]);
      joined += value;
    }
  }
  if (missing.length === 0) return pairs;
  const all = encodeUtf8(joined);
  const isAscii = all.length === joined.length;
  let start = 0;
  for (const [name, value] of missing) {
    const end = start + value.length;
    pairs.push(valuePair(name, isAscii ? all.subarray(start, end) : encodeUtf8(value)));
    start = end;
  }
  return pairs;
}

/** `:ic-cert-status` is hashed as a number: LEB128 of 128 to 16,383 has two bytes. */
export function statusPair(status: number): Pair {
  const known = constants.get(`${statusName}:${status}`);
  return known ?? valuePair(statusName, Uint8Array.of((status & 0x7f) | 0x80, status >> 7));
}

export function methodPair(method: string): Pair {
  return fieldPair([':ic-cert-method', method]);
}

function isBehind(left: Pair, right: Pair): number {
  return left.order < right.order ? -1 : 1;
}

/** Of pairs with different names, which are put in order, and of a body. */
function messageHash(pairs: Pair[], bodyDigest: Uint8Array): Uint8Array {
  pairs.sort(isBehind);
  let end = 0;
  for (const pair of pairs) {
    mapBuffer.set(pair.bytes, end);
    end += pairBytes;
  }
  messageBuffer.set(sha256(mapBuffer.subarray(0, end)));
  messageBuffer.set(bodyDigest, hashBytes);
  return sha256(messageBuffer);
}

let emptyBodyHash: Uint8Array | undefined;

export function emptyBodyDigest(): Uint8Array {
  emptyBodyHash ??= sha256(emptyBytes);
  return emptyBodyHash;
}

/** Of a request without a body. Puts the pairs in order. */
export function requestHash(pairs: Pair[]): Uint8Array {
  return messageHash(pairs, emptyBodyDigest());
}

/** One of the pairs is that of the status; puts them in order. `bodyDigest`: SHA-256. */
export function responseHash(pairs: Pair[], bodyDigest: Uint8Array): Uint8Array {
  return messageHash(pairs, bodyDigest);
}
