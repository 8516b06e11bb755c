// Texts between JavaScript and native code. The engine turns a string to UTF-8 and back natively
// where Azle hands one to the System API or takes one from it, 20 instructions a byte; its own
// languages have no such function. So the kernel stands in front of `debug_print` and
// `msg_reject_msg`: a text that is printed while the exchange is armed is taken, and a text that
// lies ready is given in place of a reject message. All else is passed on.
//
//   exchange, an array of JavaScript's that stays: 0 armed u32 | 4 length u32 | 8 UTF-8

import {
  systemDebugPrint, systemRejectMessageCopy, systemRejectMessageSize,
} from './system';

const headBytes: usize = 8;

let exchange: usize = 0;
let exchangeBytes: usize = 0;
/** Address of the text that is ready; 0 for no text. */
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
  // A text that does not fit is reported by its length only
  if (length != 0 && length <= exchangeBytes - headBytes) {
    memory.copy(exchange + headBytes, text, length);
  }
}

/** Returns the text taken last, for operations on texts; it may be longer than the buffer. */
export function takenText(): usize {
  if (takenBytes() > exchangeBytes - headBytes) unreachable();
  return exchange + headBytes;
}

export function takenBytes(): usize {
  if (exchange == 0) unreachable();
  return <usize>load<u32>(exchange, 4);
}

/** UTF-8 that stays where it is until it is fetched. */
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
