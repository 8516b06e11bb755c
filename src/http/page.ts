// A page or text that the canister serves by itself, certified in advance (pages.ts lists them).

import { sha256 } from '../crypto/hash.ts';
import { encodeUtf8 } from '../lib/text.ts';
import type { CertifiedText } from './certified-text.ts';
import { publicFields } from './console.ts';
import type { Header } from './message.ts';

export interface Page {
  /** Begins with a slash; a final wildcard covers all paths below. */
  readonly address: string;
  /** Computed on access, because a request needs one page of twenty. */
  readonly text: CertifiedText;
  /** Absent for pages that change only with the code. */
  readonly lastModifiedNs?: bigint | undefined;
  body(): Uint8Array;
}

export const wellKnownFolder = '/.well-known/';

export function jsonPage(address: string, value: () => object, type = 'application/json'): Page {
  const body = () => encodeUtf8(`${JSON.stringify(value())}\n`);
  return pageOf(address, body, publicFields(type));
}

export function pageOf(
  address: string,
  content: () => Uint8Array,
  representation: readonly Header[],
): Page {
  let made: Uint8Array | undefined;
  const body = () => {
    made ??= content();
    return made;
  };
  return {
    address,
    get text() {
      return {
        address,
        size: body().length,
        digest: sha256(body()),
        validators: [['Cache-Control', 'no-cache']] as const,
        representation: [...representation, ['X-Content-Type-Options', 'nosniff']] as const,
      };
    },
    body,
  };
}
