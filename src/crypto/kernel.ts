// Calls of the native kernel (kernel/kernel-call.ts is the other side). This module knows only the
// command block: the actor installs Azle's `certifiedDataSet` as the call, and tests install a call
// for Node. Every call and every property access costs thousands of instructions in the canister,
// so each operation has its own command block, and its function calls the kernel directly.

/** Passes the memory of the bytes to the kernel without copying. */
export type KernelCall = (bytes: Uint8Array) => void;

export const kernelOperations = {
  seal: 1,
  open: 2,
  chacha20: 3,
  poly1305: 4,
  equal: 5,
  sealSegments: 6,
  openContentKey: 7,
  wrapContentKey: 8,
  chunkRead: 9,
  sha256: 16,
  sha256Init: 17,
  sha256Update: 18,
  sha256Finish: 19,
  hmac: 20,
  expand: 21,
  sha1: 22,
  spaceSize: 32,
  spaceGrow: 33,
  spaceRead: 34,
  spaceWrite: 35,
  spaceErase: 36,
  wakeTimers: 37,
  mergedDataSize: 38,
  mergedDataRead: 39,
  variableSize: 40,
  variableRead: 41,
  derivationCost: 42,
  indexCount: 48,
  indexFind: 49,
  indexInsert: 50,
  indexRemove: 51,
  indexRank: 52,
  indexCountBlocks: 53,
  indexRead: 54,
  indexSum: 55,
  recordGet: 56,
  recordSet: 57,
  recordRemove: 58,
  recordsRead: 59,
  recordsInUse: 60,
  recordsJson: 61,
  labelHash: 64,
  labelSet: 65,
  labelSetLeaves: 66,
  labelHas: 67,
  labelRemove: 68,
  labelMove: 69,
  labelWildcardDepth: 70,
  labelWitness: 71,
  labelFallbackWitness: 72,
  partLeaves: 81,
  fileTree: 82,
  certificateHeader: 83,
  findAll: 88,
  jsonShape: 89,
  openExchange: 96,
  decodeText: 97,
  readRequest: 98,
  reply: 99,
  hexText: 100,
  replyPieces: 101,
  journalAppend: 104,
  journalEntries: 105,
  journalBlocks: 106,
  journalTip: 107,
  journalCut: 108,
  journalOwner: 109,
  journalRoot: 110,
  journalRedact: 111,
  journalNumber: 112,
} as const;

export type KernelOperation = (typeof kernelOperations)[keyof typeof kernelOperations];

/** A command block, seen as bytes for the call and as words and 64-bit longs for its fields. */
export interface KernelCommand {
  readonly bytes: Uint8Array;
  /** u32, little-endian as in Wasm; `kernelWords` names the ones that a caller may use. */
  readonly words: Uint32Array;
  /** u64; `kernelLongs` names the ones that a caller may use. */
  readonly longs: BigUint64Array;
}

/** Indices into `KernelCommand.words`; 64-bit fields have two words, the low one first. */
export const kernelWords = {
  result: 6,
  selector: 7,
  offset: 8,
  length: 10,
  longResult: 12,
} as const;

/** Indices into `KernelCommand.longs`. */
export const kernelLongs = {
  offset: kernelWords.offset / 2,
  result: kernelWords.longResult / 2,
} as const;

const magicWords = [0x9d27e846, 0xa3c1f05b, 0x6a0fc372, 0x5e8b14d9] as const;
const operationWord = 4;
const operandsWord = 5;
const commandWords = 16;

/**
 * The installed call. It first passes a command, then each operand; with the last one the operation
 * runs. Check operands before passing the command (`refuseOperand`), because nothing may fail in
 * between. Keep each operand in a variable: the kernel stores addresses, and the engine frees
 * temporaries at once.
 */
export let kernelCall: KernelCall = refuseCall;

export function installKernelCall(call: KernelCall): void {
  kernelCall = call;
}

/**
 * Returns the block of an operation with that many operands. It can be reused, because operations
 * end before they return.
 */
export function createCommand(operation: KernelOperation, operands: number): KernelCommand {
  const words = new Uint32Array(commandWords);
  words.set(magicWords);
  words[operationWord] = operation;
  words[operandsWord] = operands;
  const { buffer } = words;
  return { bytes: new Uint8Array(buffer), words, longs: new BigUint64Array(buffer) };
}

/** Throws for an operand that is not a Uint8Array or has a wrong length. */
export function refuseOperand(what: string, operand: Uint8Array): never {
  const isBytes = operand instanceof Uint8Array;
  const found = isBytes ? `has ${operand.length} bytes` : 'is not a Uint8Array';
  throw new Error(`Cannot call the kernel: the ${what} ${found}`);
}

const wakeCommand = createCommand(kernelOperations.wakeTimers, 0).bytes;

/** Makes the system run the timers that are due, including lost ones. */
export function wakeTimers(): void {
  kernelCall(wakeCommand);
}

const probeWords = 8;

/** Whether a kernel is merged in. Without one, the system call certifies the probe as data. */
export function isKernelLinked(): boolean {
  const probe = Uint32Array.of(...magicWords, 0, 0, 0, 0);
  const probeBytes = new Uint8Array(probe.buffer, 0, 4 * probeWords);
  kernelCall(probeBytes);
  return probe[4] === 1;
}

const selfTestCommand = createCommand(kernelOperations.sha256, 2).bytes;
const selfTestMessage = Uint8Array.of(0x61, 0x62, 0x63);

/**
 * Throws unless a kernel is present and returns a known digest. Without a kernel, the system stores
 * the probe as certified data, so set the data after this test.
 */
export function kernelSelfTest(): void {
  if (!isKernelLinked()) {
    throw new Error(
      'Cannot use the kernel: it is not merged into the Wasm; build with npm run build',
    );
  }
  const digest = new Uint8Array(32);
  kernelCall(selfTestCommand);
  kernelCall(selfTestMessage);
  kernelCall(digest);
  const words = new Uint32Array(digest.buffer);
  // FIPS 180-4 example: SHA-256("abc") begins with ba7816bf and ends with f20015ad
  if (words[0] !== 0xbf1678ba || words[7] !== 0xad1500f2) {
    throw new Error('Cannot use the kernel: its SHA-256 is wrong');
  }
}

function refuseCall(): void {
  throw new Error('Cannot call the kernel: no call is installed');
}
