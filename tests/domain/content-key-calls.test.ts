// The kernel opens and wraps keys of contents as wrapped-keys.ts does, and leaves what does not
// match to it.

import { beforeEach, describe, expect, test } from 'vitest';
import { findBucket } from '../../src/domain/buckets/buckets.ts';
import { currentBucketKey } from '../../src/domain/keys/bucket-keys.ts';
import {
  freshBytes,
  openContentKey,
  wrapContentKey,
} from '../../src/domain/keys/content-key-calls.ts';
import { createContent, type SealedContent } from '../../src/domain/keys/file-keys.ts';
import { keyBytes, openWrappedKey, type WrappingKey } from '../../src/domain/keys/wrapped-keys.ts';
import { createScene } from '../support/domain-fixture.ts';
import { expectSameBytes } from '../support/expect-same.ts';
import type { MemoryStores } from '../support/memory-stores.ts';

let stores: MemoryStores;

beforeEach(async () => {
  ({ stores } = await createScene());
});

function bucket() {
  return findBucket(stores, 'box') ?? expect.fail('no bucket');
}

/** Opens the key by JavaScript, step by step. */
function openByParts({ contentId, keySlot }: SealedContent): Uint8Array {
  const key: WrappingKey = currentBucketKey(stores, bucket());
  const owner = { id: contentId, name: new Uint8Array(0) };
  return openWrappedKey(stores, keySlot, { owner, wrapper: () => key });
}

describe('openContentKey()', () => {
  test('returns the key that the slow way returns', () => {
    const { content, key } = createContent(stores, bucket());
    expectSameBytes(openContentKey(stores, bucket(), content) ?? expect.fail('no key'), key);
    expectSameBytes(openByParts(content), key);
  });

  test('returns nothing for a slot that does not exist or belongs to another content', () => {
    const { content } = createContent(stores, bucket());
    const slots = [0, -1, 0.5, NaN, Infinity, 2 ** 53, stores.keySlots.end(), content.keySlot - 1];
    for (const keySlot of slots) {
      expect(openContentKey(stores, bucket(), { ...content, keySlot }), `${keySlot}`).toBe(
        undefined,
      );
    }
    const other = { ...content, contentId: content.contentId + 1 };
    expect(openContentKey(stores, bucket(), other)).toBe(undefined);
  });

  test('returns nothing if any bit of the two slots was altered', () => {
    const { content } = createContent(stores, bucket());
    for (const slot of [content.keySlot, bucket().keySlot]) {
      const whole = stores.keySlots.read(slot) ?? expect.fail('no slot');
      for (let at = 0; at < 76; at++) {
        stores.keySlots.replace(
          slot,
          whole.map((byte, index) => (index === at ? byte ^ 1 : byte)),
        );
        expect(openContentKey(stores, bucket(), content), `byte ${at}`).toBe(undefined);
      }
      stores.keySlots.replace(slot, whole);
    }
    expect(openContentKey(stores, bucket(), content)).toBeDefined();
  });

  test('returns nothing for the keys of another bucket, or under another root key', () => {
    const { content } = createContent(stores, bucket());
    expect(openContentKey(stores, { ...bucket(), id: 'other' }, content)).toBe(undefined);
    stores.secrets.rootKeys.set(1, new Uint8Array(32).fill(9));
    expect(openContentKey(stores, bucket(), content)).toBe(undefined);
    stores.secrets.rootKeys.clear();
    expect(openContentKey(stores, bucket(), content)).toBe(undefined);
  });
});

test('wrapContentKey() wraps under the nonce that it gets, and withFileKey() opens it', () => {
  const fresh = new Uint8Array(freshBytes).map((_, index) => index);
  const slot = wrapContentKey(stores, bucket(), { contentId: 77, fresh });
  if (slot === undefined) return expect.fail('no slot');
  const keySlot = stores.keySlots.add(slot);
  expectSameBytes(openByParts({ contentId: 77, keySlot }), fresh.slice(0, keyBytes));
  expectSameBytes(slot.slice(16, 28), fresh.slice(keyBytes));
});
