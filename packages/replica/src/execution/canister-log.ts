// A canister's log: the lines that it prints and the reasons of its traps, in replicated execution.
// Each line is a separate value in the store, so that a message writes no more than it adds;
// another value lists the lines. IC spec, "IC method fetch_canister_logs".
//
//   log of ID      CBOR [index of the oldest, index after the newest, total bytes]
//   log of ID, N   CBOR [nanoseconds since 1970, content]

import { decode, encode } from 'cborg';
import type { LogRecord, StateStore, ValueChange } from '../core.ts';
import type { Execution } from './canister.ts';
import { isReplicated } from './context.ts';
import type { CanisterTrap } from './errors.ts';
import { MessageLog, recordBytes } from './message-log.ts';

interface LogRange {
  readonly first: number;
  readonly next: number;
  readonly bytes: number;
}

type StoredRange = readonly [first: number, next: number, bytes: number];
type StoredLine = readonly [timestamp: bigint | number, content: Uint8Array];

const rangeName = (idText: string) => `log of ${idText}`;
const lineName = (idText: string, index: number) => `log of ${idText}, ${index}`;

/** Adds a line of the running message; queries do not log. */
export function log(execution: Execution, line: Uint8Array): void {
  if (!isReplicated(execution.context)) return;
  const { effects, canister } = execution;
  effects.printed ??= new MessageLog(Number(canister.record.settings.logMemoryLimit));
  effects.printed.add(line);
}

/**
 * Returns the changes that add the lines of a completed message to the log and remove the oldest
 * lines to make room for them. `isCleared`: the message also deletes all former lines.
 */
export function logChanges(
  store: StateStore,
  execution: Execution,
  end: { readonly trap?: CanisterTrap; readonly isCleared?: boolean } = {},
): ValueChange[] {
  const { canister, effects, time } = execution;
  const { idText } = canister;
  if (end.trap) log(execution, Buffer.from(`[TRAP]: ${end.trap.logText}`));
  const { printed } = effects;
  if (printed === undefined) return end.isCleared ? clearLog(store, idText) : [];
  // If a message dropped lines of its own, earlier lines do not fit either.
  const isCleared = end.isCleared || printed.dropped > 0;
  const changes = isCleared ? clearLog(store, idText) : [];
  const stored = readRange(store, idText);
  const start = stored.next + printed.dropped;
  const former = isCleared ? { first: start, next: start, bytes: 0 } : stored;
  let { next, bytes } = former;
  for (const content of printed.lines()) {
    changes.push([lineName(idText, next), encode([time, content])]);
    bytes += recordBytes + content.length;
    next += 1;
  }
  const limit = Number(canister.record.settings.logMemoryLimit);
  return [...changes, ...trim(store, idText, { range: { ...former, next, bytes }, limit })];
}

/** Removes the oldest lines until the log is within its limit. */
function trim(
  store: StateStore,
  idText: string,
  { range, limit }: { readonly range: LogRange; readonly limit: number },
): ValueChange[] {
  const changes: ValueChange[] = [];
  let { first, bytes } = range;
  for (; bytes > limit && first < range.next; first += 1) {
    const line = store.getValue(lineName(idText, first));
    if (line === undefined) continue;
    bytes -= recordBytes + readLine(line)[1].length;
    changes.push([lineName(idText, first), undefined]);
  }
  const stored: StoredRange = [first, range.next, bytes];
  return [...changes, [rangeName(idText), encode(stored)]];
}

/** Trims a log whose limit was lowered. */
export function limitLog(store: StateStore, idText: string, limit: bigint): ValueChange[] {
  const range = readRange(store, idText);
  return BigInt(range.bytes) > limit ? trim(store, idText, { range, limit: Number(limit) }) : [];
}

export function clearLog(store: StateStore, idText: string): ValueChange[] {
  return limitLog(store, idText, 0n);
}

export function removeLog(store: StateStore, idText: string): ValueChange[] {
  return [...clearLog(store, idText), [rangeName(idText), undefined]];
}

export function readLog(store: StateStore, idText: string): LogRecord[] {
  const { first, next } = readRange(store, idText);
  const records: LogRecord[] = [];
  for (let index = first; index < next; index += 1) {
    const stored = store.getValue(lineName(idText, index));
    if (stored === undefined) continue;
    const [timestamp, content] = readLine(stored);
    records.push({ index: BigInt(index), timestamp: BigInt(timestamp), content });
  }
  return records;
}

function readRange(store: StateStore, idText: string): LogRange {
  const stored = store.getValue(rangeName(idText));
  if (stored === undefined) return { first: 0, next: 0, bytes: 0 };
  const [first, next, bytes] = decode(stored) as StoredRange;
  return { first, next, bytes };
}

function readLine(stored: Uint8Array): StoredLine {
  return decode(stored) as StoredLine;
}
