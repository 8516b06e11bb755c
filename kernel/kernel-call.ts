// Kernel calls. JavaScript in the canister can reach native code in only one way: Azle passes the
// memory of a Uint8Array, without copying, to `certified_data_set`. Arrays that the system would
// accept (32 bytes or fewer) are passed on to it. A command block begins an operation; the
// following calls pass its operands.
//
//   command block, 64 bytes, little-endian
//    0 magic 16 B | 16 operation u32 | 20 operands u32 | 24 result u32 | 28 space or counter u32
//   32 offset or pages u64 | 40 length u64 | 48 result u64 | 56 operand u64
//
// A block of 32 bytes that begins with the magic asks whether a kernel exists; a kernel answers in
// the second half. Without a kernel the system takes the block as certified data, which is
// harmless.
//
// An unknown or malformed command traps. A trap rolls back the kernel's changes with the message.

import { areEqual, open, poly1305, seal } from './aead';
import { findAll, jsonShape } from './byte-search';
import { certificateHeader } from './certificate-header';
import { chacha20 } from './chacha20';
import { chunkRead } from './chunk-read';
import { fileTree } from './file-tree';
import { ensureHeap, wipeSecrets } from './heap';
import { expand, hmacSha256 } from './hmac';
import { journalOperands, runJournal } from './journal-operations';
import { labelOperands, runLabels } from './label-operations';
import { mergedDataRead, mergedDataSize } from './merged-data';
import { at, lengthOf, setOperand, sized } from './operands';
import {
  indexCount, indexCountBlocks, indexFind, indexInsert, indexRank, indexRead, indexRemove,
  indexSum,
} from './ordered-index';
import { lastValue } from './ordered-index-search';
import { partLeaves } from './part-leaves';
import { recordOperands, runRecords } from './record-operations';
import { sealSegments } from './segments';
import { sha1, sha1Bytes } from './sha1';
import { sha256, sha256Finish, sha256Init, sha256StateBytes, sha256Update } from './sha256';
import { spaceErase, spaceGrow, spaceRead, spaceWrite } from './stable-space';
import { derivationCost, sizeOf } from './sizes';
import {
  systemCertifiedDataSet, systemGlobalTimerSet, systemVariableCopy, systemVariableExists,
  systemVariableSize,
} from './system';
import { runText, textOperands } from './text-operations';
import { keyNumbersBytes, openContentKey, wrapContentKey } from './wrapped-keys';

const magicLow: u64 = 0xa3c1f05b9d27e846;
const magicHigh: u64 = 0x5e8b14d96a0fc372;
const commandBytes: usize = 64;
const probeBytes: usize = 32;
const probeAnswer: u64 = 1;
const certifiedDataBytesMax: usize = 32;
/** Size of an environment variable that is not set. */
const absentVariable: u32 = 0xffffffff;

const sealOperation: u32 = 1;
const openOperation: u32 = 2;
const chacha20Operation: u32 = 3;
const poly1305Operation: u32 = 4;
const equalOperation: u32 = 5;
const sealSegmentsOperation: u32 = 6;
const openContentKeyOperation: u32 = 7;
const wrapContentKeyOperation: u32 = 8;
const chunkReadOperation: u32 = 9;
const sha256Operation: u32 = 16;
const sha256InitOperation: u32 = 17;
const sha256UpdateOperation: u32 = 18;
const sha256FinishOperation: u32 = 19;
const hmacOperation: u32 = 20;
const expandOperation: u32 = 21;
const sha1Operation: u32 = 22;
const spaceSizeOperation: u32 = 32;
const spaceGrowOperation: u32 = 33;
const spaceReadOperation: u32 = 34;
const spaceWriteOperation: u32 = 35;
const spaceEraseOperation: u32 = 36;
const wakeTimersOperation: u32 = 37;
const mergedDataSizeOperation: u32 = 38;
const mergedDataReadOperation: u32 = 39;
const variableSizeOperation: u32 = 40;
const variableReadOperation: u32 = 41;
const derivationCostOperation: u32 = 42;
const indexCountOperation: u32 = 48;
const indexFindOperation: u32 = 49;
const indexInsertOperation: u32 = 50;
const indexRemoveOperation: u32 = 51;
const indexRankOperation: u32 = 52;
const indexCountBlocksOperation: u32 = 53;
const indexReadOperation: u32 = 54;
const indexSumOperation: u32 = 55;
// 56 to 63 are operations on records: record-operations.ts
const recordOperationsStart: u32 = 56;
// 64 to 79 are operations on label trees: label-operations.ts
const labelOperationsStart: u32 = 64;
const partLeavesOperation: u32 = 81;
const fileTreeOperation: u32 = 82;
const certificateHeaderOperation: u32 = 83;
const findAllOperation: u32 = 88;
const jsonShapeOperation: u32 = 89;
// 96 to 103 are operations on texts: text-operations.ts
const textOperationsStart: u32 = 96;
// From 104 on, operations on the journal: journal-operations.ts
const journalOperationsStart: u32 = 104;

/** Address of the command whose operands are awaited; 0 if no command is pending. */
let command: usize = 0;
let awaited: u32 = 0;
let received: u32 = 0;

export function certified_data_set(bytes: usize, length: usize): void {
  if (command != 0) takeOperand(bytes, length);
  else if (length == probeBytes && hasMagic(bytes)) store<u64>(bytes, probeAnswer, 16);
  else if (length <= certifiedDataBytesMax) systemCertifiedDataSet(bytes, length);
  else if (isCommand(bytes, length)) begin(bytes);
  else systemCertifiedDataSet(bytes, length); // for the system to refuse
}

function isCommand(bytes: usize, length: usize): bool {
  if (!hasMagic(bytes)) return false;
  if (length != commandBytes) unreachable();
  return true;
}

function hasMagic(bytes: usize): bool {
  return load<u64>(bytes) == magicLow && load<u64>(bytes, 8) == magicHigh;
}

function begin(block: usize): void {
  ensureHeap();
  const operands = operandCount(load<u32>(block, 16));
  if (load<u32>(block, 20) != operands) unreachable();
  if (operands == 0) {
    run(block);
    return;
  }
  command = block;
  awaited = operands;
  received = 0;
}

function takeOperand(bytes: usize, length: usize): void {
  setOperand(received, bytes, length);
  received++;
  if (received < awaited) return;
  const block = command;
  command = 0;
  run(block);
}

function operandCount(operation: u32): u32 {
  if (operation >= labelOperationsStart && operation < partLeavesOperation) {
    return labelOperands(operation);
  }
  if (operation >= journalOperationsStart) return journalOperands(operation);
  if (operation >= textOperationsStart) return textOperands(operation);
  if (operation >= recordOperationsStart && operation < labelOperationsStart) {
    return recordOperands(operation);
  }
  switch (operation) {
    case sealOperation:
    case openOperation:
    case sealSegmentsOperation:
    case wrapContentKeyOperation:
    case partLeavesOperation: return 5;
    case fileTreeOperation:
    case openContentKeyOperation:
    case certificateHeaderOperation: return 4;
    case chacha20Operation:
    case poly1305Operation:
    case findAllOperation:
    case expandOperation:
    case hmacOperation: return 3;
    case equalOperation:
    case sha256Operation:
    case sha1Operation:
    case sha256UpdateOperation:
    case sha256FinishOperation:
    case variableReadOperation:
    case chunkReadOperation:
    case indexCountBlocksOperation: return 2;
    case sha256InitOperation:
    case jsonShapeOperation:
    case mergedDataReadOperation:
    case variableSizeOperation:
    case derivationCostOperation:
    case spaceReadOperation:
    case spaceWriteOperation:
    case indexFindOperation:
    case indexInsertOperation:
    case indexRemoveOperation:
    case indexRankOperation:
    case indexReadOperation:
    case indexSumOperation: return 1;
    case spaceSizeOperation:
    case spaceGrowOperation:
    case spaceEraseOperation:
    case wakeTimersOperation:
    case mergedDataSizeOperation:
    case indexCountOperation: return 0;
  }
  unreachable();
  return 0;
}

function run(block: usize): void {
  const operation = load<u32>(block, 16);
  if (operation >= journalOperationsStart) runJournal(operation, block);
  else if (operation >= textOperationsStart) runText(operation, block);
  else if (operation >= findAllOperation) runSearch(operation, block);
  else if (operation >= partLeavesOperation) runDelivery(operation, block);
  else if (operation >= labelOperationsStart) runLabels(operation, block);
  else if (operation >= recordOperationsStart) runRecords(operation, block);
  else if (operation >= indexCountOperation) runIndex(operation, block);
  else if (operation >= spaceSizeOperation) runSpace(operation, block);
  else if (operation >= sha256Operation) runHash(operation);
  else runCipher(operation, block);
}

function runCipher(operation: u32, block: usize): void {
  switch (operation) {
    case sealOperation:
      seal(sized(0, 32), sized(1, 12), at(2), lengthOf(2), at(3), lengthOf(3), sized(4, 16));
      return;
    case openOperation:
      store<u32>(block, u32(
        open(sized(0, 32), sized(1, 12), at(2), lengthOf(2), at(3), lengthOf(3), sized(4, 16)),
      ), 24);
      return;
    case chacha20Operation:
      chacha20(sized(0, 32), sized(1, 12), load<u32>(block, 28), at(2), lengthOf(2));
      wipeSecrets();
      return;
    case poly1305Operation:
      poly1305(sized(0, 32), at(1), lengthOf(1), sized(2, 16));
      return;
    case equalOperation:
      store<u32>(block, u32(areEqual(at(0), sized(1, lengthOf(0)), lengthOf(0))), 24);
      return;
    case sealSegmentsOperation:
      sealSegments(
        load<u32>(block, 28), load<u32>(block, 40), sized(0, 32), sized(1, 12), sized(2, 56),
        at(3), lengthOf(3), at(4), lengthOf(4) >> 3,
      );
      return;
    case openContentKeyOperation:
      store<u32>(block, u32(openContentKey(
        load<u32>(block, 28), sized(0, 32), sized(1, keyNumbersBytes), at(2), lengthOf(2),
        sized(3, 32),
      )), 24);
      return;
    case wrapContentKeyOperation:
      store<u32>(block, u32(wrapContentKey(
        load<u32>(block, 28), sized(0, 32), sized(1, keyNumbersBytes), at(2), lengthOf(2),
        sized(3, 44), sized(4, 80),
      )), 24);
      return;
    case chunkReadOperation:
      store<u32>(block, u32(chunkRead(
        load<u32>(block, 28), load<u64>(block, 32), load<u32>(block, 40), load<u32>(block, 44),
        sized(0, 32), at(1), lengthOf(1),
      )), 24);
  }
}

function runHash(operation: u32): void {
  switch (operation) {
    case sha256Operation: sha256(at(0), lengthOf(0), sized(1, 32)); return;
    case sha256InitOperation: sha256Init(sized(0, sha256StateBytes)); return;
    case sha256UpdateOperation:
      sha256Update(sized(0, sha256StateBytes), at(1), lengthOf(1));
      return;
    case sha256FinishOperation: sha256Finish(sized(0, sha256StateBytes), sized(1, 32)); return;
    case hmacOperation:
      hmacSha256(at(0), lengthOf(0), at(1), lengthOf(1), sized(2, 32));
      return;
    case expandOperation:
      expand(at(0), lengthOf(0), at(1), lengthOf(1), at(2), lengthOf(2));
      return;
    case sha1Operation: sha1(at(0), lengthOf(0), sized(1, sha1Bytes));
  }
}

function runSpace(operation: u32, block: usize): void {
  const space = load<u32>(block, 28);
  const offset = load<u64>(block, 32);
  if (operation == spaceSizeOperation) {
    store<u64>(block, sizeOf(space), 48);
    return;
  }
  if (operation == spaceReadOperation) {
    spaceRead(space, at(0), offset, lengthOf(0));
    return;
  }
  if (operation == mergedDataSizeOperation) {
    store<u32>(block, mergedDataSize(), 24);
    return;
  }
  if (operation == mergedDataReadOperation) {
    mergedDataRead(at(0), <u32>offset, <u32>lengthOf(0));
    return;
  }
  if (operation == variableSizeOperation) {
    const isSet = systemVariableExists(at(0), lengthOf(0)) != 0;
    store<u32>(block, isSet ? <u32>systemVariableSize(at(0), lengthOf(0)) : absentVariable, 24);
    return;
  }
  if (operation == variableReadOperation) {
    systemVariableCopy(at(0), lengthOf(0), at(1), 0, lengthOf(1));
    return;
  }
  if (operation == derivationCostOperation) {
    store<u64>(block, derivationCost(at(0), lengthOf(0)), 48);
    return;
  }
  if (operation == wakeTimersOperation) {
    // A time in the past: the canister's timers run at once, and set the next one.
    systemGlobalTimerSet(1);
    return;
  }
  // Space 0 belongs to the rest of the canister, which accesses it as its stable memory.
  if (space == 0) unreachable();
  if (operation == spaceGrowOperation) store<u64>(block, spaceGrow(space, offset), 48);
  else if (operation == spaceWriteOperation) spaceWrite(space, offset, at(0), lengthOf(0));
  else spaceErase(space, offset, load<u64>(block, 40));
}

function runIndex(operation: u32, block: usize): void {
  const space = load<u32>(block, 28);
  const number = load<u64>(block, 32);
  switch (operation) {
    case indexCountOperation:
      store<u64>(block, indexCount(space), 48);
      return;
    case indexRankOperation:
      store<u64>(block, indexRank(space, at(0), lengthOf(0)), 48);
      return;
    case indexSumOperation:
      store<u64>(block, indexSum(space, at(0), lengthOf(0)), 48);
      return;
    case indexCountBlocksOperation:
      if ((lengthOf(1) & 3) != 0) unreachable();
      indexCountBlocks(space, at(0), lengthOf(0), number, at(1), <u32>(lengthOf(1) >> 2));
      return;
    case indexReadOperation:
      store<u32>(block, indexRead(
        space, number, load<u32>(block, 40), at(0), lengthOf(0),
      ), 24);
      return;
  }
  let isFound: bool = false;
  if (operation == indexFindOperation) isFound = indexFind(space, at(0), lengthOf(0));
  else if (operation == indexInsertOperation) {
    isFound = indexInsert(space, at(0), lengthOf(0), number);
  } else isFound = indexRemove(space, at(0), lengthOf(0));
  store<u32>(block, u32(isFound), 24);
  store<u64>(block, lastValue(), 48);
}

function runSearch(operation: u32, block: usize): void {
  if (operation == jsonShapeOperation) {
    store<u64>(block, jsonShape(at(0), lengthOf(0)), 48);
    return;
  }
  store<u32>(block, findAll(
    at(0), lengthOf(0), at(1), lengthOf(1), at(2), <u32>(lengthOf(2) >> 2),
  ), 24);
}

/** Operations for certified answers, except hashes. */
function runDelivery(operation: u32, block: usize): void {
  if (operation == fileTreeOperation) {
    store<u32>(block, fileTree(block), 24);
    return;
  }
  if (operation == certificateHeaderOperation) {
    store<u32>(block, certificateHeader(
      at(0), lengthOf(0), at(1), lengthOf(1), at(2), lengthOf(2), at(3), lengthOf(3),
    ), 24);
    return;
  }
  const partBytes = load<u64>(block, 32);
  const parts = <u32>(lengthOf(3) / 32);
  if (lengthOf(0) % 64 != 0 || lengthOf(3) % 32 != 0) unreachable();
  partLeaves(
    at(0), <u32>(lengthOf(0) / 64), sized(1, 32), sized(2, 96), at(3), parts, partBytes,
    load<u64>(block, 40), sized(4, <usize>parts * 64),
  );
}
