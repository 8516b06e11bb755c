// The segment cipher for browsers. Node has a faster one: node/segment-cipher.ts.

import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
import type { SegmentCipher } from '../types/end-to-end.ts';

export const softwareSegmentCipher: SegmentCipher = {
  seal: (key, nonce, bytes) => chacha20poly1305(key, nonce).encrypt(bytes),
  open(key, nonce, sealed) {
    try {
      return chacha20poly1305(key, nonce).decrypt(sealed);
    } catch {
      return undefined;
    }
  },
};
