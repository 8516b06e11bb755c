// Operations on texts that go between JavaScript and native code, as the gate runs them.
//
//   command block of readRequest: 32 headers at most u64 | 40 bytes of texts at most u64; it leaves
//   there where the request's body begins, and its length

import { readRequest, requestBody, requestBodyBytes, requestJson } from './http-request';
import { at, lengthOf } from './operands';
import { layReady, openExchange } from './text-exchange';
import { isUtf8 } from './utf8';

const openExchangeOperation: u32 = 96;
const decodeTextOperation: u32 = 97;
const readRequestOperation: u32 = 98;

export function textOperands(operation: u32): u32 {
  if (operation > readRequestOperation) unreachable();
  return 1;
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
  }
}

function decodeText(block: usize): bool {
  const length = lengthOf(0);
  // An empty array may be anywhere
  const text = length == 0 ? block : at(0);
  if (!isUtf8(text, length)) return false;
  layReady(text, length);
  return true;
}

function layRequestReady(block: usize): bool {
  const length = readRequest(at(0), lengthOf(0), load<u32>(block, 32), load<u32>(block, 40));
  if (length == 0) return false;
  layReady(requestJson(), length);
  store<u64>(block, <u64>(requestBody() - at(0)), 32);
  store<u64>(block, <u64>requestBodyBytes(), 40);
  return true;
}
