// Outgoing calls whose answers may arrive at a later version of the canister. For a callback, the
// system stores an index into the table of functions and one number, and delivers the answer to the
// code that is installed by then. Therefore the system gets callbacks of the kernel, which have the
// same table indices in every version (scripts/merge-wasm.ts); the canister's own callbacks are in
// a slot. An answer to a call of a former instance does not change the canister. IC spec,
// "Inter-canister method calls", "Abstract behavior: Callback invocation".
//
//   number (env) of a callback: instance 21 bits | slot 11 bits
//   slot, 32 bytes: reply function, its number | reject function, its number |
//   cleanup function, its number | state, 0 free | next free slot plus one; all u32

import { ensureHeap, heapBase, tablePartAt, takePages } from './heap';
import {
  systemCallerCopy, systemCallerSize, systemCallNew, systemCallOnCleanup, systemCallPerform,
  systemCallWithBestEffortResponse, systemCanisterVersion, systemReject, systemSelfCopy,
  systemSelfSize,
} from './system';

// The table indices of the callbacks, which scripts/merge-wasm.ts assigns. Never change these:
// later versions receive the answers to calls of this one.
const replyPlace: u32 = 16_384;
const rejectPlace: u32 = 16_385;
const cleanupPlace: u32 = 16_386;

const slotBits: u32 = 11;
const slotShift: usize = 5;
/** The slots fill one Wasm page. The system allows 500 open calls to any one canister. */
const slotCount: u32 = 1 << slotBits;

/** Maximum length of a principal. */
const idBytesMax: usize = 29;

const free: u32 = 0;
const live: u32 = 1;
const withCleanup: u32 = 2;

/**
 * How long a call to another canister waits for its answer; then it is rejected. Without this limit
 * a canister that never answers would prevent this one from being stopped.
 */
const answerSecondsMax: u32 = 60;

/** `call_perform` of the IC spec: not performed, because a limit is reached. */
const notPerformed: u32 = 2;

/** Address of the slots' page; 0 before the first call of this instance. */
let slots: usize = 0;
/** Distinguishes the callback numbers of this instance from those of the previous one. */
let instance: u32 = 0;
/** The number of slots ever used, and the first free one of these, plus one. */
let used: u32 = 0;
let freed: u32 = 0;
/** Slot, plus one, of the call under construction; it stays if the message drops the call. */
let building: u32 = 0;
/** Whether the call under construction found no free slot. */
let isWithoutSlot: bool = false;

// @ts-ignore: decorator
@inline
function slotAt(slot: u32): usize {
  return slots + (<usize>slot << slotShift);
}

/**
 * The canister version identifies the instance: it grows with each message, so that its low 21 bits
 * repeat only after two million messages.
 */
function prepare(): void {
  if (slots != 0) return;
  slots = takePages(1);
  if (slots == 0) unreachable();
  instance = <u32>systemCanisterVersion();
}

function environmentOf(slot: u32): u32 {
  return instance << slotBits | slot;
}

/** Takes a free slot and returns its number plus one; 0 if all are in use. */
function takeSlot(): u32 {
  if (freed == 0) return used < slotCount ? ++used : 0;
  const taken = freed;
  freed = load<u32>(slotAt(taken - 1), 28);
  return taken;
}

function freeSlot(slot: u32): void {
  const at = slotAt(slot);
  store<u32>(at, free, 24);
  store<u32>(at, freed, 28);
  freed = slot + 1;
}

function endBuilding(): void {
  building = 0;
  isWithoutSlot = false;
}

export function call_new(
  callee: usize, calleeLength: usize, method: usize, methodLength: usize,
  replyFunction: u32, replyEnvironment: u32, rejectFunction: u32, rejectEnvironment: u32,
): void {
  prepare();
  if (building != 0) freeSlot(building - 1);
  endBuilding();
  const taken = takeSlot();
  isWithoutSlot = taken == 0;
  building = taken;
  // Without a slot, the call is never performed.
  const environment = environmentOf(isWithoutSlot ? 0 : taken - 1);
  if (!isWithoutSlot) {
    const at = slotAt(taken - 1);
    store<u32>(at, replyFunction);
    store<u32>(at, replyEnvironment, 4);
    store<u32>(at, rejectFunction, 8);
    store<u32>(at, rejectEnvironment, 12);
    store<u32>(at, live, 24);
  }
  systemCallNew(
    callee, calleeLength, method, methodLength,
    replyPlace, environment, rejectPlace, environment,
  );
  // Required, because the cleanup must free the slot of a callback that trapped.
  systemCallOnCleanup(cleanupPlace, environment);
  if (!isTrusted(callee, calleeLength)) systemCallWithBestEffortResponse(answerSecondsMax);
}

/** Whether the callee always answers: the management canister (an empty id) and this one do. */
function isTrusted(callee: usize, length: usize): bool {
  return length == 0 || isSelf(callee, length);
}

export function call_on_cleanup(cleanupFunction: u32, cleanupEnvironment: u32): void {
  if (isWithoutSlot) return;
  // Passes a missing or repeated call on, so that the system refuses it.
  if (building == 0 || load<u32>(slotAt(building - 1), 24) != live) {
    systemCallOnCleanup(cleanupFunction, cleanupEnvironment);
    unreachable();
  }
  const at = slotAt(building - 1);
  store<u32>(at, cleanupFunction, 16);
  store<u32>(at, cleanupEnvironment, 20);
  store<u32>(at, withCleanup, 24);
}

export function call_perform(): u32 {
  if (isWithoutSlot) {
    endBuilding();
    return notPerformed;
  }
  const code = systemCallPerform();
  if (code != 0 && building != 0) freeSlot(building - 1);
  endBuilding();
  return code;
}

/** Whether the number belongs to an open call of this instance. */
function isLive(environment: u32): bool {
  if (slots == 0) return false;
  const slot = environment & slotCount - 1;
  return environmentOf(slot) == environment && load<u32>(slotAt(slot), 24) != free;
}

/** Frees the slot, which the function may use again, and calls the function with its number. */
function end(environment: u32, offset: usize): void {
  const slot = environment & slotCount - 1;
  const at = slotAt(slot) + offset;
  const target = load<u32>(at);
  const targetEnvironment = load<u32>(at, 4);
  freeSlot(slot);
  call_indirect<void>(target, targetEnvironment);
}

export function callback_reply(environment: u32): void {
  if (isLive(environment)) end(environment, 0);
  else refuseCaller();
}

export function callback_reject(environment: u32): void {
  if (isLive(environment)) end(environment, 8);
  else refuseCaller();
}

/** Runs after a callback trapped and was rolled back, which made its slot live again. */
export function callback_cleanup(environment: u32): void {
  if (!isLive(environment)) return;
  const slot = environment & slotCount - 1;
  if (load<u32>(slotAt(slot), 24) == withCleanup) end(environment, 16);
  else freeSlot(slot);
}

/**
 * Rejects the caller, which waits for the answer to a call of a former instance. Nobody waits for a
 * message that the system began (its caller has no bytes), or that the canister sent to itself: a
 * timer's message is answered before its work ends.
 */
function refuseCaller(): void {
  if (systemCallerSize() == 0 || isOwnCall()) return;
  const text = heapBase() + tablePartAt;
  store<u64>(text, 0x696e616320656854); // "The cani"
  store<u64>(text, 0x7361772072657473, 8); // "ster was"
  store<u64>(text, 0x6564617267707520, 16); // " upgrade"
  store<u64>(text, 0x20656c6968772064, 24); // "d while "
  store<u64>(text, 0x6c61632073696874, 32); // "this cal"
  store<u64>(text, 0x646574696177206c, 40); // "l waited"
  store<u64>(text, 0x676120797274203a, 48); // ": try ag"
  store<u64>(text, 0x202020202e6e6961, 56); // "ain."
  systemReject(text, 60);
}

function isOwnCall(): bool {
  ensureHeap();
  const length = systemCallerSize();
  const caller = heapBase() + tablePartAt + idBytesMax;
  systemCallerCopy(caller, 0, length);
  return isSelf(caller, length);
}

/** Whether the bytes are this canister's own id. */
function isSelf(id: usize, length: usize): bool {
  if (systemSelfSize() != length) return false;
  ensureHeap();
  const self = heapBase() + tablePartAt;
  systemSelfCopy(self, 0, length);
  return memory.compare(id, self, length) == 0;
}
