// Native text conversion: the kernel's UTF-8 serves the whole canister and implements the global
// TextEncoder and TextDecoder for libraries. (Azle's polyfills cost 14,000 instructions per byte
// and are not in the bundle.) Imported before all other code that runs.

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

/** "DIDL", no types, one argument of type text; the length as LEB128 follows. */
const candidTextHeadBytes = 7;

/** For long texts and without a kernel: 95 instructions per byte, 50,000 per call. */
function encodeByCandid(text: string): Uint8Array {
  const encoded = candidEncode(`("${escapeCandidText(text)}")`);
  let start = candidTextHeadBytes;
  while (present(encoded[start++], 'length of a Candid text') >= 0x80) {
    // The last byte of a LEB128 number has no continuation bit.
  }
  return encoded.subarray(start);
}

/**
 * Escapes quotes and backslashes for Candid's textual grammar, whose parser accepts control
 * characters unescaped. A regular expression would cost 2,000 instructions per character; this
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

  /** Always strict: malformed bytes throw instead of being replaced. */
  decode(bytes: Uint8Array = new Uint8Array(0)): string {
    const text = decodeUtf8(bytes);
    if (text === undefined) {
      throw new TypeError('The text is not well-formed UTF-8');
    }
    return text;
  }
}

/** Azle's public functions take 4,000 more instructions per call. */
const azle = globalThis._azleIc;

installKernelCall(azle?.certifiedDataSet ?? certifiedDataSet);
// The bundle is also evaluated at build time, before the kernel is merged in.
if (azle && openTextExchange({ give: azle.debugPrint, take: azle.msgRejectMsg })) {
  installUtf8Encoder((text) => encodeByKernel(text) ?? encodeByCandid(text));
  installUtf8Decoder(decodeByKernel);
  installHexEncoder(hexByKernel);
} else {
  installUtf8Encoder(encodeByCandid);
}
Object.assign(globalThis, { TextEncoder: NativeTextEncoder, TextDecoder: NativeTextDecoder });
