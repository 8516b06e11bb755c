// Helpers over Uint8Array that stay in native code: interpreted byte loops cost thousands of
// instructions a turn in the canister. Knows nothing of what the bytes mean.

export const emptyBytes = new Uint8Array(0);

/** By index: a step of an iterator costs as much as a part. */
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

/** Equality of short strings of bytes; not constant-time, not for secrets. */
export function bytesEqual(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && byteString(left) === byteString(right);
}

/** One character a byte. `apply` takes its arguments on the stack, hence the pieces. */
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
