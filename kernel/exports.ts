// Functions that replace System API functions of the same names, and the callbacks that
// scripts/merge-wasm.ts puts into the table of functions.

import { linearRead, linearWrite, spaceGrow, spaceSize } from './stable-space';

export { certified_data_set } from './kernel-call';
export { debug_print, msg_reject_msg_copy, msg_reject_msg_size } from './text-exchange';
export {
  call_new, call_on_cleanup, call_perform, callback_cleanup, callback_reject, callback_reply,
} from './outgoing-calls';

export function stable64_size(): u64 {
  return spaceSize(0);
}

export function stable64_grow(pages: u64): u64 {
  return spaceGrow(0, pages);
}

export function stable64_read(target: u64, offset: u64, size: u64): void {
  linearRead(target, offset, size);
}

export function stable64_write(offset: u64, source: u64, size: u64): void {
  linearWrite(offset, source, size);
}
