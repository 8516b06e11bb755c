// Short constant texts as bytes, also where no native encoder is at hand: modules are evaluated at
// build time too.

/** One byte a character. */
export function asciiBytes(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
