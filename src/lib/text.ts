// UTF-8 without the byte loops of the TextEncoder/TextDecoder polyfills, which cost 14,000
// instructions per byte in the canister: it uses native functions that the host installs, or
// built-ins of the language if there is no native decoder.

import { byteString } from './bytes.ts';

export type NativeUtf8Encode = (text: string) => Uint8Array;

/** Returns `undefined` for malformed UTF-8. */
export type NativeUtf8Decode = (bytes: Uint8Array) => string | undefined;

let nativeEncode: NativeUtf8Encode | undefined;
let nativeDecode: NativeUtf8Decode | undefined;

/** `encode` gets only well-formed text, and returns its UTF-8. */
export function installUtf8Encoder(encode: NativeUtf8Encode): void {
  nativeEncode = encode;
}

export function installUtf8Decoder(decode: NativeUtf8Decode): void {
  nativeDecode = decode;
}

/** Returns the UTF-8 of `text`; lone surrogates become U+FFFD, as in the Encoding Standard. */
export function encodeUtf8(text: string): Uint8Array {
  if (nativeEncode === undefined) {
    throw new Error('installUtf8Encoder() has not been called');
  }
  return nativeEncode(text.toWellFormed());
}

/** Returns the bytes of a short ASCII text, such as a name that is encoded once at the start. */
export function asciiBytes(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** Returns the text of UTF-8 bytes, or `undefined` if they are malformed. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  return nativeDecode === undefined ? decodeByBuiltIns(bytes) : nativeDecode(bytes);
}

/** Takes 850 instructions per byte. */
function decodeByBuiltIns(bytes: Uint8Array): string | undefined {
  const raw = byteString(bytes);
  // Sticky: otherwise QuickJS retries at each character, even if the pattern has a ^.
  if (/[^\x80-\xff]*$/y.test(raw)) {
    return raw;
  }
  try {
    // escape() writes each byte as %XX, and decodeURIComponent() reads UTF-8 strictly.
    return decodeURIComponent(escape(raw));
  } catch {
    return undefined;
  }
}

/** Finds C0, DEL and C1 (ISO/IEC 6429), which are not allowed in names, header values and tags. */
export function hasControlCharacter(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is sought
  return !/[^\u0000-\u001f\u007f-\u009f]*$/y.test(text);
}

/** Finds embeddings, overrides and isolates (Unicode Annex 9), which make names look alike. */
export function hasBidiControl(text: string): boolean {
  return /[\u202a-\u202e\u2066-\u2069]/.test(text);
}
