// Text through native code: the kernel's UTF-8 serves the whole canister, and stands behind the
// global TextEncoder and TextDecoder for the libraries that use them (Azle's polyfills cost 14,000
// instructions a byte and are not in the bundle). Imported before everything else that runs.

import { candidEncode, certifiedDataSet } from 'azle';
import { installKernelCall } from '../../crypto/kernel.ts';
import {
  decodeByKernel,
  encodeByKernel,
  hexByKernel,
  openTextExchange,
} from '../../crypto/kernel-text.ts';
import { present } from '../../lib/assert.ts';
import { installHexEncoder } from '../../lib/hex.ts';
import { decodeUtf8, encodeUtf8, installUtf8Decoder, installUtf8Encoder } from '../../lib/text.ts';

/** "DIDL", no types, one argument, of type text; then the length as LEB128. */
const candidTextHeadBytes = 7;

/** For long texts, and where there is no kernel: 95 instructions a byte, 50,000 a call. */
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
 * characters as they are. A regular expression would cost 2,000 instructions a character, this
 * costs 200.
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

/** Azle's public functions take 4,000 instructions more a call. */
const azle = globalThis._azleIc;

installKernelCall(azle?.certifiedDataSet ?? certifiedDataSet);
// The bundle is also evaluated at build time, before the kernel is linked.
if (azle && openTextExchange({ give: azle.debugPrint, take: azle.msgRejectMsg })) {
  installUtf8Encoder((text) => encodeByKernel(text) ?? encodeByCandid(text));
  installUtf8Decoder(decodeByKernel);
  installHexEncoder(hexByKernel);
} else {
  installUtf8Encoder(encodeByCandid);
}
Object.assign(globalThis, { TextEncoder: NativeTextEncoder, TextDecoder: NativeTextDecoder });
