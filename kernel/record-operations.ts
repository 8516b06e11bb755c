// Calls of the kernel on records (records.ts).
//
//   command block: 28 space u32 | 32 weight, or limit of bytes, u64 | 24 result u32 | 48 result u64

import { at, lengthOf, sized } from './operands';
import {
  recordGet, recordRemove, recordsInUse, recordsJson, recordSet, recordsRead,
} from './records';

const recordGetOperation: u32 = 56;
const recordSetOperation: u32 = 57;
const recordRemoveOperation: u32 = 58;
const recordsReadOperation: u32 = 59;
const recordsInUseOperation: u32 = 60;
const recordsJsonOperation: u32 = 61;

export function recordOperands(operation: u32): u32 {
  switch (operation) {
    case recordsReadOperation: return 5;
    case recordsJsonOperation: return 4;
    case recordSetOperation: return 3;
    case recordGetOperation:
    case recordRemoveOperation: return 2;
    case recordsInUseOperation: return 0;
  }
  unreachable();
  return 0;
}

export function runRecords(operation: u32, block: usize): void {
  const space = load<u32>(block, 28);
  switch (operation) {
    case recordsInUseOperation:
      store<u64>(block, recordsInUse(space), 48);
      return;
    case recordGetOperation:
      store<u32>(block, recordGet(space, at(0), lengthOf(0), at(1), lengthOf(1)), 24);
      return;
    case recordSetOperation:
      store<u32>(block, recordSet(
        space, at(0), lengthOf(0), at(1), lengthOf(1), load<u64>(block, 32), at(2), lengthOf(2),
      ), 24);
      return;
    case recordRemoveOperation:
      store<u32>(block, recordRemove(space, at(0), lengthOf(0), at(1), lengthOf(1)), 24);
      return;
    case recordsReadOperation: {
      const count = lengthOf(2) >> 2;
      store<u32>(block, recordsRead(
        space, at(0), lengthOf(0), at(1), at(2), count, sized(3, count << 2), at(4), lengthOf(4),
      ), 24);
      return;
    }
    case recordsJsonOperation: {
      store<u32>(block, recordsJson(
        space, at(0), lengthOf(0), at(1), at(2), lengthOf(2) >> 2, load<u64>(block, 32),
        at(3), lengthOf(3), block + 48,
      ), 24);
    }
  }
}
