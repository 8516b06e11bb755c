// Texts between JavaScript and native code. The engine natively converts a string to UTF-8 and back
// when Azle passes it to the System API or reads it from there, at 20 instructions per byte;
// JavaScript has no such function. Therefore the kernel replaces `debug_print` and
// `msg_reject_msg`: when JavaScript has armed the exchange, the next printed text is stored there;
// a prepared text is returned once in place of a reject message. All other calls are passed on.
//
//   exchange, a permanent array of JavaScript: 0 armed u32 | 4 length u32 | 8 UTF-8

import {
  systemDebugPrint, systemRejectMessageCopy, systemRejectMessageSize,
} from './system';

const headBytes: usize = 8;

let exchange: usize = 0;
let exchangeBytes: usize = 0;
/** Address of the prepared text; 0 without a text. */
let ready: usize = 0;
let readyBytes: usize = 0;

export function openExchange(bytes: usize, length: usize): void {
  if (length < headBytes) unreachable();
  exchange = bytes;
  exchangeBytes = length;
}

export function debug_print(text: usize, length: usize): void {
  if (exchange == 0 || load<u32>(exchange) == 0) {
    systemDebugPrint(text, length);
    return;
  }
  store<u32>(exchange, 0);
  store<u32>(exchange, <u32>length, 4);
  // For a text that does not fit, only its length is reported
  if (length != 0 && length <= exchangeBytes - headBytes) {
    memory.copy(exchange + headBytes, text, length);
  }
}

/** Returns the address of the last taken text; traps if the text is longer than the buffer. */
export function takenText(): usize {
  if (takenBytes() > exchangeBytes - headBytes) unreachable();
  return exchange + headBytes;
}

export function takenBytes(): usize {
  if (exchange == 0) unreachable();
  return <usize>load<u32>(exchange, 4);
}

/** Prepares UTF-8, which must stay in place until it is read. */
export function layReady(text: usize, length: usize): void {
  ready = text;
  readyBytes = length;
}

export function msg_reject_msg_size(): usize {
  return ready == 0 ? systemRejectMessageSize() : readyBytes;
}

export function msg_reject_msg_copy(target: usize, offset: usize, size: usize): void {
  if (ready == 0) {
    systemRejectMessageCopy(target, offset, size);
    return;
  }
  if (offset + size > readyBytes || offset + size < offset) unreachable();
  if (size != 0) memory.copy(target, ready + offset, size);
  ready = 0;
}
