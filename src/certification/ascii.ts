// Short constant texts as bytes. It needs no native encoder, because modules are also evaluated at
// build time.

/** Returns one byte per character. */
export function asciiBytes(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
