// SHA-256 (FIPS 180-4) by the native kernel, at once or in steps. A state is plain bytes, so that a
// later message can continue it. SHA-1 is only for checksums of other protocols.

import { createCommand, kernelCall, kernelOperations, refuseOperand } from './kernel.ts';

export const sha256Bytes = 32;
/** Hash u32 x 8, message length u64, block under construction 64 bytes. */
export const sha256StateBytes = 104;

const sha1Bytes = 20;
const sha1Command = createCommand(kernelOperations.sha1, 2).bytes;
const digestCommand = createCommand(kernelOperations.sha256, 2).bytes;
const initCommand = createCommand(kernelOperations.sha256Init, 1).bytes;
const updateCommand = createCommand(kernelOperations.sha256Update, 2).bytes;
const finishCommand = createCommand(kernelOperations.sha256Finish, 2).bytes;

/** Returns the digest, 32 bytes. */
export function sha256(bytes: Uint8Array): Uint8Array {
  if (!(bytes instanceof Uint8Array)) refuseOperand('message', bytes);
  const digest = new Uint8Array(sha256Bytes);
  kernelCall(digestCommand);
  kernelCall(bytes);
  kernelCall(digest);
  return digest;
}

export function createSha256State(): Uint8Array {
  const state = new Uint8Array(sha256StateBytes);
  kernelCall(initCommand);
  kernelCall(state);
  return state;
}

/** Changes the state in place. */
export function updateSha256(state: Uint8Array, bytes: Uint8Array): void {
  if (state.length !== sha256StateBytes) refuseOperand('state', state);
  if (!(bytes instanceof Uint8Array)) refuseOperand('message', bytes);
  kernelCall(updateCommand);
  kernelCall(state);
  kernelCall(bytes);
}

/** Returns the digest of all bytes so far; the state can be updated further. */
export function finishSha256(state: Uint8Array): Uint8Array {
  if (state.length !== sha256StateBytes) refuseOperand('state', state);
  const digest = new Uint8Array(sha256Bytes);
  kernelCall(finishCommand);
  kernelCall(state);
  kernelCall(digest);
  return digest;
}

/** Returns the SHA-1 digest, 20 bytes. It detects damage in transit, but not forgery. */
export function sha1(bytes: Uint8Array): Uint8Array {
  if (!(bytes instanceof Uint8Array)) refuseOperand('message', bytes);
  const digest = new Uint8Array(sha1Bytes);
  kernelCall(sha1Command);
  kernelCall(bytes);
  kernelCall(digest);
  return digest;
}
