// The kernel's own memory inside the canister's linear memory: one Wasm page, seven more for label
// trees, two for requests, two for segments, and one for outgoing calls, each allocated at first
// use by memory.grow. The canister's allocator treats them as a gap. The kernel has no static data,
// because the module that it is merged into uses every address below the heap. A new page is all
// zeros; upgrades start without these pages.

let base: usize = 0;
let labelPages: usize = 0;
let requestPages: usize = 0;
let segmentPages: usize = 0;

/** Byte offsets inside the page. Every region starts where the one before it ends or later. */
// operands of a call  8 x (pointer u32, length u32)
export const operandsAt: usize = 0x0000;
// size of each space  16 x bytes u64
export const spaceSizesAt: usize = 0x0040;
// index of each space 16 x (pointer u32, room in extents u32)
export const spaceIndexesAt: usize = 0x00c0;
// superblock of the slots of records without its lists: 3 x u64, and one list head
export const recordFieldsAt: usize = 0x0140;
// Journal: its superblock (96 bytes), an entry of its directory (48), a block to be hashed (256)
export const journalSuperblockAt: usize = 0x0200;
export const journalPageAt: usize = 0x0280;
export const journalBlockAt: usize = 0x0300;
// Secrets of one operation; wiped when it ends
export const polyStateAt: usize = 0x1000;
export const keyBlockAt: usize = 0x1100;
export const tailAt: usize = 0x1200;
// SHA-256 state, with room for a second block for the padding
export const hashStateAt: usize = 0x1300;
export const hmacPadAt: usize = 0x13c0;
export const hmacStateAt: usize = 0x1400;
const secretsEndAt: usize = 0x1480;
// border lengths of the needle (Knuth-Morris-Pratt)  128 x u8
export const bordersAt: usize = 0x1480;
// Secrets of wrapped-keys.ts: a key of 32 bytes, a slot of 80, associated data; wiped by it
export const wrappedKeysAt: usize = 0x1500;
export const wrappedKeysBytes: usize = 0x200;
// Secrets of an expansion by HKDF: the last block, the info and a counter; wiped by it
export const expansionAt: usize = 0x1700;
export const expansionInfoMax: usize = 0x80;
// Secrets of a journal's entry: two salts, a key, two hashes; wiped by it
export const journalSecretsAt: usize = 0x1800;
export const journalSecretsBytes: usize = 0x100;
// Never written: the source of zeros
export const zerosAt: usize = 0x2000;
export const zerosBytes: usize = 0x1000;
// Copies of the superblock and of a part of the extent table
export const superblockAt: usize = 0x3000;
export const tablePartAt: usize = 0x4000;
export const tablePartBytes: usize = 0x4000;
// Ordered index: its superblock, the path from the root to an entry, the number of the cached page
// of each level, a key of 1,301 bytes, the sums along the path (24 x u64), five pages of 6 KiB
export const indexSuperblockAt: usize = 0x8000;
export const indexPathAt: usize = 0x8040;
export const indexLevelsAt: usize = 0x81c0;
export const indexKeyAt: usize = 0x8200;
export const indexSumsAt: usize = 0x8720;
export const indexPagesAt: usize = 0x8800;

/** Byte offsets inside the pages for label trees. */
const labelPageCount: u32 = 7;
// labels of a path    1,024 x (pointer u32, length u32)
export const labelsAt: usize = 0x0000;
export const labelsRoom: u32 = 1024;
// the targets of a witness (label-witness.ts) in each level  1,024 x 2 x 8 bytes
export const labelTargetsAt: usize = 0x2000;
// superblock, the edge to be inserted, the edge that was detached, the wildcard label
export const labelSuperblockAt: usize = 0x6000;
export const labelEdgeAt: usize = 0x6040;
export const labelDetachedAt: usize = 0x6080;
export const wildcardAt: usize = 0x60c0;
// two nodes, a message to be hashed
export const labelNodesAt: usize = 0x6100;
export const labelMessageAt: usize = 0x7400;
// a level that is being built: its unfinished nodes
export const labelSpineAt: usize = 0x8000;
// The steps of a path from the root, or the parts of a witness that are not written yet
export const labelStepsAt: usize = 0x10000;
export const labelStepsBytes: usize = 0x50000;
// entries of a level in order  16,384 x pointer u32
export const labelOrderAt: usize = 0x60000;
export const levelRoom: u32 = 16_384;

/** Byte offsets inside the pages for requests and answers. */
const requestPageCount: u32 = 2;
// start of each entry of a type table  32 x pointer u32
export const requestTypesAt: usize = 0x0000;
// header fields       100 x (name, its length, value, its length, hash of the name: u32)
export const requestFieldsAt: usize = 0x0100;
// A request as JSON, with room for the longest texts and the most headers if every byte is escaped
// and every field is written twice; or the parts of an answer that are not stored elsewhere
export const requestTextAt: usize = 0x0a00;
export const requestTextBytesMax: u32 = 10_240;
export const requestHeadersMax: u32 = 100;

/** Wipes the region of secrets after an operation. */
export function wipeSecrets(): void {
  memory.fill(base + polyStateAt, 0, secretsEndAt - polyStateAt);
}

// @ts-ignore: decorator
@inline
export function heapBase(): usize {
  return base;
}

/** Allocates the page at first use; traps if the canister cannot get more memory. */
export function ensureHeap(): void {
  if (base != 0) return;
  base = takePages(1);
  if (base == 0) unreachable();
}

// @ts-ignore: decorator
@inline
export function labelBase(): usize {
  return labelPages;
}

export function ensureLabelPages(): void {
  if (labelPages != 0) return;
  labelPages = takePages(labelPageCount);
  if (labelPages == 0) unreachable();
}

// @ts-ignore: decorator
@inline
export function requestBase(): usize {
  return requestPages;
}

export function ensureRequestPages(): void {
  if (requestPages != 0) return;
  requestPages = takePages(requestPageCount);
  if (requestPages == 0) unreachable();
}

/** Space for one segment of a file and its tag. */
const segmentPageCount: u32 = 2;

// @ts-ignore: decorator
@inline
export function segmentBase(): usize {
  return segmentPages;
}

export function ensureSegmentPages(): void {
  if (segmentPages != 0) return;
  segmentPages = takePages(segmentPageCount);
  if (segmentPages == 0) unreachable();
}

/** Returns the address of that many zeroed Wasm pages, or 0 if the canister gets no more memory. */
export function takePages(pages: u32): usize {
  const first = memory.grow(pages);
  return first < 0 ? 0 : <usize>first << 16;
}
