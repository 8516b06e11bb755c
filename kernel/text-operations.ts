// Operations on texts that JavaScript and native code exchange, called by kernel calls.
//
//   command block of readRequest: 32 maximum headers u32 | 40 maximum bytes of texts u32; after
//   the call, 32 start of the request's body u64 | 40 its length u64
//   of reply: 28 status u32 | 32 headers u32 | 40 the last value is an operand u32 | 48 upgrade u32

import { ensureRequestPages, requestBase, requestTextAt } from './heap';
import { hexDigit } from './hex';
import { readRequest, requestBody, requestBodyBytes } from './http-request';
import { replyBody, replyEnd, replyHeaders, replyPieces } from './http-response';
import { jsonAt } from './json-writer';
import { at, lengthOf } from './operands';
import { layReady, openExchange } from './text-exchange';
import { isUtf8 } from './utf8';

const openExchangeOperation: u32 = 96;
const decodeTextOperation: u32 = 97;
const readRequestOperation: u32 = 98;
const replyOperation: u32 = 99;
const hexOperation: u32 = 100;
const replyPiecesOperation: u32 = 101;

const hexBytesMax: usize = 64;

export function textOperands(operation: u32): u32 {
  if (operation > replyPiecesOperation) unreachable();
  if (operation == replyPiecesOperation) return 2;
  return operation == replyOperation ? 4 : 1;
}

export function runText(operation: u32, block: usize): void {
  switch (operation) {
    case openExchangeOperation:
      openExchange(at(0), lengthOf(0));
      store<u32>(block, 1, 24);
      return;
    case decodeTextOperation:
      store<u32>(block, u32(decodeText(block)), 24);
      return;
    case readRequestOperation:
      store<u32>(block, u32(layRequestReady(block)), 24);
      return;
    case replyOperation:
      replyBody(at(0), lengthOf(0), at(1), lengthOf(1));
      replyHeaders(load<u32>(block, 32), load<u32>(block, 40) != 0, at(2), lengthOf(2));
      replyEnd(load<u32>(block, 48) != 0, at(3), lengthOf(3), load<u32>(block, 28));
      return;
    case hexOperation:
      layHexReady(at(0), lengthOf(0));
      return;
    case replyPiecesOperation:
      replyPieces(at(0), lengthOf(0), at(1), lengthOf(1));
  }
}

/** Writes two lower-case digits per byte. */
function layHexReady(bytes: usize, length: usize): void {
  if (length > hexBytesMax) unreachable();
  ensureRequestPages();
  const text = requestBase() + requestTextAt;
  for (let i: usize = 0; i < length; i++) {
    const byte = load<u8>(bytes + i);
    store<u8>(text + (i << 1), hexDigit(byte >> 4));
    store<u8>(text + (i << 1), hexDigit(byte & 15), 1);
  }
  layReady(text, length << 1);
}

function decodeText(block: usize): bool {
  const length = lengthOf(0);
  // An empty array can have any address
  const text = length == 0 ? block : at(0);
  if (!isUtf8(text, length)) return false;
  layReady(text, length);
  return true;
}

function layRequestReady(block: usize): bool {
  const length = readRequest(at(0), lengthOf(0), load<u32>(block, 32), load<u32>(block, 40));
  if (length == 0) return false;
  layReady(jsonAt(), length);
  store<u64>(block, <u64>(requestBody() - at(0)), 32);
  store<u64>(block, <u64>requestBodyBytes(), 40);
  return true;
}
