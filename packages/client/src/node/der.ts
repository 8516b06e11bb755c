// The part of DER (X.690) that private keys need: items of a tag, a length and contents.

export interface DerItem {
  readonly tag: number;
  readonly contents: Uint8Array;
  /** The whole item: head and contents. */
  readonly bytes: Uint8Array;
}

export const derTags = {
  integer: 0x02,
  octets: 0x04,
  oid: 0x06,
  sequence: 0x30,
} as const;

/** Reads a series of items; throws RangeError if one is cut off. */
export function readDer(bytes: Uint8Array): DerItem[] {
  const items: DerItem[] = [];
  for (let at = 0; at < bytes.length; ) {
    const { headBytes, length } = readHead(bytes, at);
    const end = at + headBytes + length;
    if (end > bytes.length) throw new RangeError('DER: an item is cut off.');
    const contents = bytes.subarray(at + headBytes, end);
    items.push({ tag: bytes[at] ?? 0, contents, bytes: bytes.subarray(at, end) });
    at = end;
  }
  return items;
}

export function readSequence(bytes: Uint8Array): DerItem[] {
  const [item] = readDer(bytes);
  if (item?.tag !== derTags.sequence) throw new RangeError('DER: expected a sequence.');
  return readDer(item.contents);
}

function readHead(bytes: Uint8Array, at: number): { headBytes: number; length: number } {
  const first = bytes[at + 1] ?? 0;
  if (first < 0x80) return { headBytes: 2, length: first };
  const count = first & 0x7f;
  // Keys have a few hundred bytes.
  if (count === 0 || count > 3) throw new RangeError('DER: the length is too large for a key.');
  const digits = bytes.subarray(at + 2, at + 2 + count);
  return { headBytes: 2 + count, length: Buffer.from(digits).readUIntBE(0, digits.length) };
}

/** Encodes an item with contents up to 127 bytes. */
export function shortItem(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const contents = Buffer.concat(parts);
  return Buffer.concat([Uint8Array.of(tag, contents.length), contents]);
}
