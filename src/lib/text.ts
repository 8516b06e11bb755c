// UTF-8 without the byte loops of the TextEncoder/TextDecoder polyfills, which cost 14,000
// instructions a byte in the canister: through native functions that the host of this code
// installs. Where none decodes, built-ins of the language do.

import { byteString } from './bytes.ts';

export type NativeUtf8Encode = (text: string) => Uint8Array;

/** `undefined` for what is malformed. */
export type NativeUtf8Decode = (bytes: Uint8Array) => string | undefined;

let nativeEncode: NativeUtf8Encode | undefined;
let nativeDecode: NativeUtf8Decode | undefined;

/** `encode` gets well-formed text only and returns its UTF-8. */
export function installUtf8Encoder(encode: NativeUtf8Encode): void {
  nativeEncode = encode;
}

export function installUtf8Decoder(decode: NativeUtf8Decode): void {
  nativeDecode = decode;
}

/** UTF-8 of `text`; lone surrogates become U+FFFD, as in the Encoding Standard. */
export function encodeUtf8(text: string): Uint8Array {
  if (nativeEncode === undefined) {
    throw new Error('installUtf8Encoder() has not been called');
  }
  return nativeEncode(text.toWellFormed());
}

/** Text of UTF-8 bytes, `undefined` where they are malformed. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  return nativeDecode === undefined ? decodeByBuiltIns(bytes) : nativeDecode(bytes);
}

/** 850 instructions a byte. */
function decodeByBuiltIns(bytes: Uint8Array): string | undefined {
  const raw = byteString(bytes);
  // Sticky: otherwise QuickJS begins anew at each character, also where the pattern has a ^.
  if (/[^\x80-\xff]*$/y.test(raw)) {
    return raw;
  }
  try {
    // The classic pair: escape() writes each byte as %XX, decodeURIComponent() reads UTF-8
    // strictly.
    return decodeURIComponent(escape(raw));
  } catch {
    return undefined;
  }
}

/** C0, DEL and C1 (ISO/IEC 6429): never part of a name, a header value or a tag. */
export function hasControlCharacter(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is sought
  return !/[^\u0000-\u001f\u007f-\u009f]*$/y.test(text);
}

/**
 * Embeddings, overrides and isolates (Unicode Standard Annex 9): they make a name look like
 * another.
 */
export function hasBidiControl(text: string): boolean {
  return /[\u202a-\u202e\u2066-\u2069]/.test(text);
}
