// ChaCha20-Poly1305 (RFC 8439, 2.8) by the native kernel: in place with a separate tag, or on
// copies with the tag after the ciphertext. A nonce must never be used twice with one key.

import {
  createCommand,
  kernelCall,
  kernelOperations,
  kernelWords,
  refuseOperand,
} from './kernel.ts';

export const aeadKeyBytes = 32;
export const aeadNonceBytes = 12;
export const aeadTagBytes = 16;

const sealCommand = createCommand(kernelOperations.seal, 5).bytes;
const openCommand = createCommand(kernelOperations.open, 5);
const chacha20Command = createCommand(kernelOperations.chacha20, 3);
const poly1305Command = createCommand(kernelOperations.poly1305, 3).bytes;

export interface AeadContext {
  /** 32 bytes */
  readonly key: Uint8Array;
  /** 12 bytes */
  readonly nonce: Uint8Array;
  readonly associatedData: Uint8Array;
}

export interface SealInPlaceInput extends AeadContext {
  /** Plaintext, replaced by ciphertext. */
  readonly data: Uint8Array;
  /** Receives the tag, 16 bytes; absent: a new array. */
  readonly tag?: Uint8Array;
}

export interface OpenInPlaceInput extends AeadContext {
  /** Ciphertext, replaced by plaintext; unchanged if the tag is wrong. */
  readonly data: Uint8Array;
  /** 16 bytes */
  readonly tag: Uint8Array;
}

/** Encrypts `data` in place and returns the tag. */
export function sealInPlace(input: SealInPlaceInput): Uint8Array {
  const { key, nonce, associatedData, data, tag = new Uint8Array(aeadTagBytes) } = input;
  if (!(data instanceof Uint8Array)) refuseOperand('data', data);
  if (!(associatedData instanceof Uint8Array)) refuseOperand('associated data', associatedData);
  if (key.length !== aeadKeyBytes) refuseOperand('key', key);
  if (nonce.length !== aeadNonceBytes) refuseOperand('nonce', nonce);
  if (tag.length !== aeadTagBytes) refuseOperand('tag', tag);
  kernelCall(sealCommand);
  kernelCall(key);
  kernelCall(nonce);
  kernelCall(associatedData);
  kernelCall(data);
  kernelCall(tag);
  return tag;
}

/**
 * Decrypts `data` in place. Returns false, without a change, unless key, nonce, associated data,
 * data and tag match.
 */
export function openInPlace(input: OpenInPlaceInput): boolean {
  const { key, nonce, associatedData, data, tag } = input;
  if (!(data instanceof Uint8Array)) refuseOperand('data', data);
  if (!(associatedData instanceof Uint8Array)) refuseOperand('associated data', associatedData);
  if (key.length !== aeadKeyBytes) refuseOperand('key', key);
  if (nonce.length !== aeadNonceBytes) refuseOperand('nonce', nonce);
  if (tag.length !== aeadTagBytes) refuseOperand('tag', tag);
  kernelCall(openCommand.bytes);
  kernelCall(key);
  kernelCall(nonce);
  kernelCall(associatedData);
  kernelCall(data);
  kernelCall(tag);
  return openCommand.words[kernelWords.result] === 1;
}

/** Returns the ciphertext followed by the tag; the plaintext stays unchanged. */
export function seal(input: AeadContext & { readonly plaintext: Uint8Array }): Uint8Array {
  const { plaintext } = input;
  const sealed = new Uint8Array(plaintext.length + aeadTagBytes);
  sealed.set(plaintext);
  const data = sealed.subarray(0, plaintext.length);
  const { key, nonce, associatedData } = input;
  sealInPlace({ key, nonce, associatedData, data, tag: sealed.subarray(plaintext.length) });
  return sealed;
}

/** Returns the plaintext, or undefined if any input does not match. */
export function open(input: AeadContext & { readonly sealed: Uint8Array }): Uint8Array | undefined {
  const { sealed } = input;
  const length = sealed.length - aeadTagBytes;
  if (length < 0) return undefined;
  const data = sealed.slice(0, length);
  const { key, nonce, associatedData } = input;
  const tag = sealed.subarray(length);
  return openInPlace({ key, nonce, associatedData, data, tag }) ? data : undefined;
}

export interface KeyStreamInput {
  readonly key: Uint8Array;
  readonly nonce: Uint8Array;
  /** Number of the first 64-byte block, modulo 2^32. */
  readonly counter: number;
  readonly data: Uint8Array;
}

/** ChaCha20 without a tag (RFC 8439, 2.4), in place: secrecy without authenticity. */
export function chacha20InPlace(input: KeyStreamInput): void {
  const { key, nonce, counter, data } = input;
  if (!(data instanceof Uint8Array)) refuseOperand('data', data);
  if (key.length !== aeadKeyBytes) refuseOperand('key', key);
  if (nonce.length !== aeadNonceBytes) refuseOperand('nonce', nonce);
  chacha20Command.words[kernelWords.selector] = counter;
  kernelCall(chacha20Command.bytes);
  kernelCall(key);
  kernelCall(nonce);
  kernelCall(data);
}

/** Poly1305 without encryption (RFC 8439, 2.5). The key, 32 bytes, must never be used twice. */
export function poly1305(key: Uint8Array, bytes: Uint8Array): Uint8Array {
  if (!(bytes instanceof Uint8Array)) refuseOperand('message', bytes);
  if (key.length !== aeadKeyBytes) refuseOperand('key', key);
  const tag = new Uint8Array(aeadTagBytes);
  kernelCall(poly1305Command);
  kernelCall(key);
  kernelCall(bytes);
  kernelCall(tag);
  return tag;
}
