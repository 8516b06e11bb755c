// What the kernel puts in the place of System API functions, under their names.

import { linearRead, linearWrite, spaceGrow, spaceSize } from './stable-space';

export { certified_data_set } from './gate';

export function stable64_size(): u64 {
  return spaceSize(0);
}

export function stable64_grow(pages: u64): u64 {
  return spaceGrow(0, pages);
}

export function stable64_read(target: u64, offset: u64, size: u64): void {
  linearRead(target, offset, size);
}

export function stable64_write(offset: u64, source: u64, size: u64): void {
  linearWrite(offset, source, size);
}
