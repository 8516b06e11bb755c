// Text through native code: Azle's Candid encoder serves as UTF-8 encoder, and the global
// TextEncoder and TextDecoder, whose polyfills cost 14,000 instructions a byte, are replaced for
// the libraries that use them. Imported before everything else that runs.

import { candidEncode } from 'azle';
import { present } from '../lib/assert.ts';
import { decodeUtf8, encodeUtf8, installUtf8Encoder } from '../lib/text.ts';

/** "DIDL", no types, one argument, of type text; then the length as LEB128. */
const candidTextHeadBytes = 7;

function encodeByCandid(text: string): Uint8Array {
  const encoded = candidEncode(`("${escapeCandidText(text)}")`);
  let start = candidTextHeadBytes;
  while (present(encoded[start++], 'length of a Candid text') >= 0x80) {
    // The last byte of a LEB128 number has no continuation bit.
  }
  return encoded.subarray(start);
}

/**
 * Candid's textual grammar: a quote and a backslash are escaped. The parser takes control
 * characters
 * as they are. A regular expression would cost 2,000 instructions a character, this costs 200.
 */
function escapeCandidText(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
}

class NativeTextEncoder {
  readonly encoding = 'utf-8';

  encode(text = ''): Uint8Array {
    return encodeUtf8(text);
  }
}

class NativeTextDecoder {
  readonly encoding = 'utf-8';

  /** Strict always: what is malformed is refused rather than replaced. */
  decode(bytes: Uint8Array = new Uint8Array(0)): string {
    const text = decodeUtf8(bytes);
    if (text === undefined) {
      throw new TypeError('The text is not well-formed UTF-8');
    }
    return text;
  }
}

// The bundle is also evaluated at build time, in a host without Azle's native functions: there
// candidEncode returns nothing, and the polyfills stay.
if (candidEncode('("")').length > 0) {
  installUtf8Encoder(encodeByCandid);
  Object.assign(globalThis, { TextEncoder: NativeTextEncoder, TextDecoder: NativeTextDecoder });
}
