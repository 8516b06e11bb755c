// Short constant texts as bytes, without a native encoder, because the build evaluates modules too.

/** Returns one byte per character. */
export function asciiBytes(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
