// The chunk stores: chunks of Wasm modules per canister, for install_chunked_code. IC spec, "Chunk
// store". They are in memory only, so clients upload the chunks again after a restart.

import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex } from '@noble/hashes/utils';
import { concatBytes } from '../bytes.ts';
import type { Reject } from '../core.ts';
import { isReject, refused } from './rejects.ts';

export const chunkBytesMax = 2 ** 20;
export const chunksMax = 100;
export const moduleBytesMax = 100 * 2 ** 20;

export class ChunkStore {
  readonly #chunks = new Map<string, Map<string, Uint8Array>>();

  upload(canisterId: string, chunk: Uint8Array): Uint8Array | Reject {
    if (chunk.length > chunkBytesMax) {
      const size = `${chunk.length} bytes exceeds the maximum of ${chunkBytesMax}`;
      return refused(`Error from Wasm chunk store: Wasm chunk size ${size}`);
    }
    const hash = sha256(chunk);
    const own = this.#chunks.get(canisterId) ?? new Map<string, Uint8Array>();
    if (own.size >= chunksMax && !own.has(bytesToHex(hash))) {
      return refused(
        `Error from Wasm chunk store: the store holds its maximum of ${chunksMax} chunks; ` +
          'call clear_chunk_store',
      );
    }
    own.set(bytesToHex(hash), chunk.slice());
    this.#chunks.set(canisterId, own);
    return hash;
  }

  hashes(canisterId: string): Uint8Array[] {
    return [...this.#of(canisterId).keys()].map((hex) => new Uint8Array(Buffer.from(hex, 'hex')));
  }

  /** The network counts a whole MiB per chunk. */
  size(canisterId: string): number {
    return this.#of(canisterId).size * chunkBytesMax;
  }

  all(canisterId: string): { readonly hash: Uint8Array; readonly bytes: Uint8Array }[] {
    return [...this.#of(canisterId)].map(([hex, bytes]) => {
      return { hash: new Uint8Array(Buffer.from(hex, 'hex')), bytes };
    });
  }

  clear(canisterId: string): void {
    this.#chunks.delete(canisterId);
  }

  /** Joins chunks into a module and compares it with `moduleHash`. */
  assemble(
    canisterId: string,
    wanted: { readonly hashes: readonly Uint8Array[]; readonly moduleHash: Uint8Array },
  ): Uint8Array | Reject {
    const parts = this.#collect(canisterId, wanted.hashes);
    if (!Array.isArray(parts)) return parts;
    const module = concatBytes(parts);
    const found = bytesToHex(sha256(module));
    const asked = bytesToHex(wanted.moduleHash);
    if (found === asked) return module;
    return refused(
      `Error from Wasm chunk store: Wasm module hash ${asked} does not match the hash ` +
        `of the assembled module ${found}`,
    );
  }

  #collect(canisterId: string, hashes: readonly Uint8Array[]): Uint8Array[] | Reject {
    const parts: Uint8Array[] = [];
    let size = 0;
    for (const hash of hashes) {
      const part = this.#find(canisterId, hash);
      if (isReject(part)) return part;
      size += part.length;
      if (size > moduleBytesMax) {
        return refused(`Error from Wasm chunk store: the module exceeds ${moduleBytesMax} bytes`);
      }
      parts.push(part);
    }
    return parts;
  }

  #find(canisterId: string, hash: Uint8Array): Uint8Array | Reject {
    const hex = bytesToHex(hash);
    const part = this.#of(canisterId).get(hex);
    return part ?? refused(`Error from Wasm chunk store: chunk ${hex} was not found`);
  }

  #of(canisterId: string): ReadonlyMap<string, Uint8Array> {
    return this.#chunks.get(canisterId) ?? new Map();
  }
}
