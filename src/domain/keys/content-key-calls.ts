// Opens and wraps the key of a content by one call of the kernel (kernel/wrapped-keys.ts), which
// follows the slots of the bucket's key and of the content's. That takes a fifth of the
// instructions of wrapped-keys.ts, which still serves during rotations and finds out what is
// damaged.

import { aeadNonceBytes } from '../../crypto/aead.ts';
import { createCommand, kernelCall, kernelOperations, kernelWords } from '../../crypto/kernel.ts';
import { encodeUtf8 } from '../../lib/text.ts';
import { slotBytes } from '../../storage/erasable-slots.ts';
import type { Stores } from '../shared/stores.ts';
import type { BucketKeys } from './bucket-keys.ts';
import { availableRootKey } from './root-keys.ts';
import { keyBytes } from './wrapped-keys.ts';

const openCommand = createCommand(kernelOperations.openContentKey, 4);
const wrapCommand = createCommand(kernelOperations.wrapContentKey, 5);
/** Ids and slots: root, bucket, slot of the bucket, content, slot of the content. */
const numbers = new Float64Array(5);
const numberBytes = new Uint8Array(numbers.buffer);

interface Sought {
  readonly contentId: number;
  readonly keySlot: number;
}

function setNumbers(rootVersion: number, bucket: BucketKeys, content: Sought): void {
  numbers[0] = -rootVersion;
  numbers[1] = bucket.keyId;
  numbers[2] = bucket.keySlot;
  numbers[3] = content.contentId;
  numbers[4] = content.keySlot;
}

/**
 * Returns the key of the content. Returns `undefined` if it is not wrapped by the bucket's current
 * key, or that not by the newest root key, or if one of them is damaged.
 */
export function openContentKey(
  stores: Stores,
  bucket: BucketKeys,
  content: Sought,
): Uint8Array | undefined {
  const root = availableRootKey(stores);
  if (root === undefined) return undefined;
  const key = new Uint8Array(keyBytes);
  const name = encodeUtf8(bucket.id);
  setNumbers(root.version, bucket, content);
  openCommand.words[kernelWords.selector] = stores.keySlots.space;
  kernelCall(openCommand.bytes);
  kernelCall(root.key);
  kernelCall(numberBytes);
  kernelCall(name);
  kernelCall(key);
  return openCommand.words[kernelWords.result] === 1 ? key : undefined;
}

/** Length of a key followed by a nonce. */
export const freshBytes = keyBytes + aeadNonceBytes;

/**
 * Returns the slot of a key that the bucket's current key wraps. `fresh`: the key, followed by a
 * nonce that no other key has. Returns `undefined` like openContentKey().
 */
export function wrapContentKey(
  stores: Stores,
  bucket: BucketKeys,
  { contentId, fresh }: { readonly contentId: number; readonly fresh: Uint8Array },
): Uint8Array | undefined {
  const root = availableRootKey(stores);
  if (root === undefined) return undefined;
  const slot = new Uint8Array(slotBytes);
  const name = encodeUtf8(bucket.id);
  setNumbers(root.version, bucket, { contentId, keySlot: 0 });
  wrapCommand.words[kernelWords.selector] = stores.keySlots.space;
  kernelCall(wrapCommand.bytes);
  kernelCall(root.key);
  kernelCall(numberBytes);
  kernelCall(name);
  kernelCall(fresh);
  kernelCall(slot);
  return wrapCommand.words[kernelWords.result] === 1 ? slot : undefined;
}
