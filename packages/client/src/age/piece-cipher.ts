// The cipher of a payload's pieces: ChaCha20-Poly1305 (RFC 8439). In browsers by @noble/ciphers;
// Node has a quicker one (node/piece-cipher.ts).

import { chacha20poly1305 } from '@noble/ciphers/chacha.js';

export interface PieceCipher {
  /** `bytes` encrypted, and 16 bytes of a tag. */
  seal(key: Uint8Array, nonce: Uint8Array, bytes: Uint8Array): Uint8Array;
  /** What was sealed; undefined when the tag is not that of key, nonce and bytes. */
  open(key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array): Uint8Array | undefined;
}

export const softwarePieceCipher: PieceCipher = {
  seal: (key, nonce, bytes) => chacha20poly1305(key, nonce).encrypt(bytes),
  open(key, nonce, sealed) {
    try {
      return chacha20poly1305(key, nonce).decrypt(sealed);
    } catch {
      return undefined;
    }
  },
};
