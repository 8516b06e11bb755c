// A profile of the replica by Node's profiler: shares of its main thread's busy time for each
// transfer of the client's bench.

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A span of the system's monotonic clock in microseconds, the unit of profiles. */
export interface Span {
  readonly title: string;
  readonly start: number;
  readonly end: number;
}

interface Frame {
  readonly functionName: string;
  readonly url: string;
}

interface Profile {
  readonly startTime: number;
  readonly nodes: readonly { readonly id: number; readonly callFrame: Frame }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** The first match names the share. Frames without a file match by function name. */
const parts: readonly (readonly [name: string, fits: (frame: Frame) => boolean])[] = [
  ['canister', ({ url }) => url.startsWith('wasm:')],
  ['heap comparison', ({ functionName }) => functionName === 'compareOffset'],
  // A query that grew the heap has the heap rebuilt.
  ['heap rebuilt, copies', ({ functionName }) => copies.includes(functionName)],
  ['garbage collection', ({ functionName }) => functionName === '(garbage collector)'],
  ['BLS', ({ url }) => url.includes('@noble/curves')],
  ['fsync', ({ functionName }) => /^f(?:data)?sync$/.test(functionName)],
  ['journal, page files', (frame) => isDisk(frame)],
  ['System API, stable memory', ({ url }) => /replica\/(?:execution|persistence)/.test(url)],
  ['CBOR, Candid', ({ url }) => /cborg|candid/.test(url)],
  ['hashes, signatures', ({ url, functionName }) => isHash(url, functionName)],
];
const copies = ['_copyActual', 'Instance', 'copyBytesFrom'];
const idle = ['(idle)', '(program)', '(root)'];

function isDisk({ url, functionName }: Frame): boolean {
  return url === '' && ['writeBuffers', 'writeBuffer', 'read', 'crc32'].includes(functionName);
}

function isHash(url: string, functionName: string): boolean {
  const isNative = url === '' && ['update', 'digest', 'Hash', 'signOneShot'].includes(functionName);
  return isNative || url.includes('@noble/hashes') || url.includes('internal/crypto');
}

const partNames = [...parts.map(([name]) => name), 'other'];

/** Returns the shares as a Markdown table. */
export async function formatShares(folder: string, spans: readonly Span[]): Promise<string> {
  const profile = await mainProfile(folder);
  const heads = ['transfer', 'busy', ...partNames];
  const rows = spans.map((span) => {
    const { busy, shares } = sharesOf(profile, span);
    return [span.title, busy, ...shares].map((cell, index) =>
      index === 0 ? cell : `${(100 * Number(cell)).toFixed(0)} %`,
    );
  });
  const lines = [heads, heads.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Each thread writes a profile; the main thread's is the largest. */
async function mainProfile(folder: string): Promise<Profile> {
  let largest = '';
  for (const name of await readdir(folder)) {
    const text = await readFile(join(folder, name), 'utf8');
    if (text.length > largest.length) largest = text;
  }
  return JSON.parse(largest) as Profile;
}

function sharesOf(profile: Profile, span: Span): { busy: number; shares: number[] } {
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
  const sums = partNames.map(() => 0);
  let time = profile.startTime;
  profile.samples.forEach((id, index) => {
    const delta = profile.timeDeltas[index] ?? 0;
    time += delta;
    const frame = frames.get(id);
    if (frame === undefined || time < span.start || time > span.end) return;
    if (idle.includes(frame.functionName)) return;
    const found = parts.findIndex(([, fits]) => fits(frame));
    const part = found < 0 ? parts.length : found;
    sums[part] = (sums[part] ?? 0) + delta;
  });
  const busy = sums.reduce((sum, each) => sum + each, 0);
  const shares = sums.map((sum) => (busy === 0 ? 0 : sum / busy));
  return { busy: busy / (span.end - span.start), shares };
}
