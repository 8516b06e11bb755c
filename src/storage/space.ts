// A linear range of stable memory, in bytes, that only one module uses.

import {
  type StableSpace,
  spaceGrow,
  spaceRead,
  spaceSize,
  spaceWrite,
  stablePageBytes,
} from './stable-space.ts';

export interface Space {
  readonly id: StableSpace;
  /** Bytes. */
  size(): number;
  /** Makes the space at least `bytes` large; returns false if the network refuses. */
  growTo(bytes: number): boolean;
  read(offset: number, target: Uint8Array): void;
  write(offset: number, source: Uint8Array): void;
}

export function openSpace(space: StableSpace): Space {
  return {
    id: space,
    size: () => spaceSize(space) * stablePageBytes,
    growTo(bytes) {
      const missing = Math.ceil(bytes / stablePageBytes) - spaceSize(space);
      return missing <= 0 || spaceGrow(space, missing) !== -1;
    },
    read: (offset, target) => spaceRead({ space, offset }, target),
    write: (offset, source) => spaceWrite({ space, offset }, source),
  };
}
