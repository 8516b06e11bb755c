// Encryption of a file's segments.
//
// ChaCha20-Poly1305 (RFC 8439) under the key of the content:
//   nonce            counter u32 | time u64: the counter of a content only increases, also when a
//                    chunk is replaced; the time of the message in ns keeps nonces apart when a
//                    canister continues from a snapshot, which resets the counter
//   associated data  content id f64 | chunk index u32 | segment index u32 | bytes of the chunk u32
//                    | is last u32 | SHA-256 of the chunk
// The associated data prevents moving, omitting or adding a segment.

import { openInPlace } from '../../crypto/aead.ts';
import { createCommand, kernelCall, kernelOperations, kernelWords } from '../../crypto/kernel.ts';
import { concatBytes } from '../../lib/bytes.ts';
import { segmentBytesMax } from '../../limits.ts';
import { type Chunk, type ChunkAddress, segmentCount } from './chunk-records.ts';

const sealCommand = createCommand(kernelOperations.sealSegments, 5);

/** One slot per segment, in a space of the kernel. */
export interface SlotsOfSpace {
  readonly space: number;
  readonly offsets: Float64Array<ArrayBuffer>;
}

/**
 * Encrypts and decrypts the segments of one chunk. The buffers for nonce and associated data stay;
 * only their fields change from segment to segment.
 */
export class SegmentCipher {
  readonly #context: { key: Uint8Array; nonce: Uint8Array; associatedData: Uint8Array };
  readonly #counter: Uint32Array;
  readonly #words: Uint32Array;
  readonly #firstCounter: number;
  readonly #last: number;

  constructor(address: ChunkAddress, chunk: Omit<Chunk, 'slots'>, key: Uint8Array) {
    const { counter, timeNs } = chunk.nonce;
    const nonce = new Uint8Array(16);
    new DataView(nonce.buffer).setBigUint64(4, timeNs, true);
    const head = new Float64Array([address.contentId, 0, 0]);
    const associatedData = concatBytes(new Uint8Array(head.buffer), chunk.digest);
    this.#counter = new Uint32Array(nonce.buffer, 0, 1);
    this.#words = new Uint32Array(associatedData.buffer, 8, 4);
    this.#words.set([address.index, 0, chunk.length]);
    this.#context = { key, nonce: nonce.subarray(0, 12), associatedData };
    this.#firstCounter = counter;
    this.#last = segmentCount(chunk.length) - 1;
  }

  #select(segment: number): void {
    this.#counter[0] = this.#firstCounter + segment;
    this.#words[1] = segment;
    this.#words[3] = segment === this.#last ? 1 : 0;
  }

  /** Encrypts the bytes of the whole chunk, each segment into its slot. */
  sealInto(slots: SlotsOfSpace, bytes: Uint8Array): void {
    const { key, nonce, associatedData } = this.#context;
    this.#counter[0] = this.#firstCounter;
    const offsets = new Uint8Array(slots.offsets.buffer);
    const { words } = sealCommand;
    words[kernelWords.selector] = slots.space;
    words[kernelWords.length] = segmentBytesMax;
    kernelCall(sealCommand.bytes);
    kernelCall(key);
    kernelCall(nonce);
    kernelCall(associatedData);
    kernelCall(bytes);
    kernelCall(offsets);
  }

  open(segment: number, data: Uint8Array, tag: Uint8Array): boolean {
    this.#select(segment);
    const { key, nonce, associatedData } = this.#context;
    return openInPlace({ key, nonce, associatedData, data, tag });
  }
}
