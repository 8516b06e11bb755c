import { expect, it } from 'vitest';
import {
  createSubnetKey,
  verifyStateRoot,
} from '../../../packages/replica/src/state/subnet-key.ts';

it('signStateRoot() returns valid compressed signatures, with either sign of y', () => {
  const { publicKey, signStateRoot } = createSubnetKey(new Uint8Array(32).fill(3));
  const flags = new Set<number>();
  for (let index = 0; index < 8; index += 1) {
    const rootHash = new Uint8Array(32).fill(index);
    const signature = signStateRoot(rootHash);
    expect(signature).toHaveLength(48);
    expect(verifyStateRoot({ publicKey, rootHash, signature })).toBe(true);
    flags.add((signature[0] ?? 0) & 0xe0);
  }
  expect(flags).toEqual(new Set([0x80, 0xa0]));
});
