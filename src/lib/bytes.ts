// Helpers for Uint8Array that stay in native code: an interpreted loop over bytes costs thousands
// of instructions per turn in the canister.

export const emptyBytes = new Uint8Array(0);

/** Loops by index: a step of an iterator costs as much as copying a part. */
export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (let index = 0; index < parts.length; index++) length += parts[index]?.length ?? 0;
  const joined = new Uint8Array(length);
  let offset = 0;
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index] ?? emptyBytes;
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

/** Compares short byte strings; not constant-time, so not for secrets. */
export function bytesEqual(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && byteString(left) === byteString(right);
}

/**
 * Returns a text with one character per byte. `apply` passes its arguments on the stack, so it gets
 * at most 8,192 bytes at a time.
 */
export function byteString(bytes: Uint8Array): string {
  const piece = 8_192;
  if (bytes.length <= piece) {
    return String.fromCharCode.apply(null, bytes as unknown as number[]);
  }
  let text = '';
  for (let start = 0; start < bytes.length; start += piece) {
    text += byteString(bytes.subarray(start, start + piece));
  }
  return text;
}
