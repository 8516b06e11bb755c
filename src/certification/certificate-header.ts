// The header by which a gateway verifies an answer. HTTP gateway specification, "Certificate
// header". Bytes from the beginning to the end: a text of a thousand characters costs millions of
// instructions.

import { base64Bytes } from '../crypto/base64.ts';
import { concatBytes } from '../lib/bytes.ts';
import { encodeUtf8 } from '../lib/text.ts';
import { asciiBytes } from './ascii.ts';

/** RFC 8949 §3.4.6: what follows is CBOR. */
const selfDescribedTag = Uint8Array.of(0xd9, 0xd9, 0xf7);

export interface Proof {
  /** As the System API gives it. */
  readonly certificate: Uint8Array;
  /** Self-described CBOR of the tree. */
  readonly witness: Uint8Array;
  /** `http_expr`, the labels of the path, and `<$>` or `<*>`, joined by NUL. */
  readonly path: string;
}

const certificateStart = asciiBytes('certificate=:');
const treeStart = asciiBytes(':, tree=:');
const pathStart = asciiBytes(':, expr_path=:');
const headerEnd = asciiBytes(':, version=2');

export const certificateField = 'IC-Certificate';

/** The value of the header. */
export function certificateHeader({ certificate, witness, path }: Proof): Uint8Array {
  return concatBytes(
    certificateStart,
    base64Bytes(certificate),
    treeStart,
    base64Bytes(witness),
    pathStart,
    base64Bytes(concatBytes(selfDescribedTag, encodeTexts(path))),
    headerEnd,
  );
}

/** RFC 8949 §3: an array (major type 4) of texts (major type 3). */
function encodeTexts(joined: string): Uint8Array {
  const texts = joined.split('\0');
  return concatBytes(cborHead(0x80, texts.length), encodeShort(texts) ?? encodeAny(texts));
}

/** All in one call, their heads being ASCII too: of texts that are ASCII, of 127 bytes at most. */
function encodeShort(texts: readonly string[]): Uint8Array | undefined {
  const framed = texts.map((text) => {
    const head = text.length < 24 ? [0x60 + text.length] : [0x78, text.length];
    return String.fromCharCode(...head) + text;
  });
  const all = framed.join('');
  const bytes = encodeUtf8(all);
  const isShort = bytes.length === all.length && texts.every((text) => text.length < 128);
  return isShort ? bytes : undefined;
}

function encodeAny(texts: readonly string[]): Uint8Array {
  const encoded = texts.map(encodeUtf8);
  return concatBytes(...encoded.flatMap((bytes) => [cborHead(0x60, bytes.length), bytes]));
}

/** Major type and length, up to 65,535. */
function cborHead(type: number, length: number): Uint8Array {
  if (length < 24) return Uint8Array.of(type | length);
  if (length < 256) return Uint8Array.of(type | 24, length);
  return Uint8Array.of(type | 25, length >> 8, length & 255);
}
