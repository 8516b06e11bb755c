// Rows of the bench, and their Markdown tables.

import type { KernelCost } from './kernel-costs.ts';
import type { EmptyCanister, StorageCosts } from './storage-costs.ts';

export interface BenchRow {
  readonly name: string;
  readonly bytes: number;
  readonly instructions: number;
  /** 0 for queries. */
  readonly cycles: number;
  /** Median time of the request on this machine, measured by the client. */
  readonly milliseconds: number;
}

/** Returns the former rows with the measured ones in their places; new ones follow. */
export function mergeRows(former: readonly BenchRow[], measured: readonly BenchRow[]): BenchRow[] {
  const rows = [...former];
  let place = rows.length;
  for (const row of measured) {
    const found = rows.findIndex(({ name, bytes }) => name === row.name && bytes === row.bytes);
    if (found >= 0) rows[found] = row;
    else rows.splice(place, 0, row);
    place = (found >= 0 ? found : place) + 1;
  }
  return rows;
}

// The protocol's charges for an update on 13 nodes: ingress message, its bytes, its execution.
const ingressCycles = 1_200_000;
const cyclesPerByte = 2_000;
const executionCycles = 5_000_000;

function protocolFloor(bytes: number): number {
  return ingressCycles + executionCycles + cyclesPerByte * bytes;
}

function formatRow(row: BenchRow): string {
  const { name, bytes, instructions, cycles, milliseconds } = row;
  const isCharged = cycles > 0 && bytes > 0;
  return [
    bytes === 0 ? name : `${name} ${bytes.toLocaleString('en-US')} B`,
    (instructions / 1e6).toFixed(1),
    bytes < 100_000 ? '' : (instructions / bytes).toFixed(1),
    cycles === 0 ? 'free' : (cycles / 1e6).toFixed(1),
    isCharged ? (cycles / protocolFloor(bytes)).toFixed(3) : '',
    milliseconds.toFixed(1),
  ].join(' | ');
}

export function formatTable(rows: readonly BenchRow[]): string {
  const heads = [
    'request',
    'instructions (M)',
    'instructions per byte',
    'cycles (M)',
    'cycles : protocol floor',
    'ms',
  ];
  const lines = [heads.join(' | '), heads.map(() => '---').join(' | '), ...rows.map(formatRow)];
  return lines.map((line) => `| ${line} |`).join('\n');
}

export function formatKernel(costs: readonly KernelCost[]): string {
  const lines = costs.map(({ operation, bytes, instructionsPerByte }) => {
    return `| ${operation} ${bytes.toLocaleString('en-US')} B | ${instructionsPerByte.toFixed(1)} |`;
  });
  return ['| kernel operation | instructions per byte |', '| --- | --- |', ...lines].join('\n');
}

const bytesPerGigabyte = 1e9;
/** Cycles per year, from 127,000 per GiB and second. */
const cyclesPerStableByte = (127_000 * 365.25 * 24 * 3_600) / 2 ** 30;
/** The same for a file's byte: each segment of 65,536 bytes is stored with a tag of 16 bytes. */
const cyclesPerByteYear = cyclesPerStableByte * (1 + 16 / 65_536);
const dollarsPerTrillion = 1.4;

/** Costs of uploading a gigabyte by each kind of request, and of storing it. */
export function formatCosts(rows: readonly BenchRow[]): string {
  const uploads = rows.filter(({ cycles, bytes }) => cycles > 0 && bytes >= 1_000_000);
  const costs: (readonly [string, number])[] = uploads.map(({ name, bytes, cycles }) => [
    `1 GB uploaded by ${name} of ${bytes.toLocaleString('en-US')} B`,
    (cycles / bytes) * bytesPerGigabyte,
  ]);
  costs.push(['1 GB stored for a year', cyclesPerByteYear * bytesPerGigabyte]);
  const lines = costs.map(([name, cycles]) => {
    const trillions = cycles / 1e12;
    return `| ${name} | ${trillions.toFixed(2)} | ${(trillions * dollarsPerTrillion).toFixed(2)} |`;
  });
  return ['| bytes | cycles (T) | about US$ |', '| --- | --- | --- |', ...lines].join('\n');
}

/** Between messages a canister is charged only for its memory, which includes stable memory. */
export function formatStorage({ installedBytes, files }: StorageCosts): string {
  const row = (name: string, bytes: number) => {
    const millions = Math.round((bytes * cyclesPerStableByte) / 1e6);
    return `| ${name} | ${bytes.toLocaleString('en-US')} | ${millions.toLocaleString('en-US')} |`;
  };
  const lines = files.map(({ bytes, files, stableBytes }) =>
    row(`a file of ${bytes.toLocaleString('en-US')} B, average of ${files}`, stableBytes),
  );
  const heads = '| stable memory | bytes | cycles a year (M) |';
  return [heads, '| --- | --- | --- |', row('after install', installedBytes), ...lines].join('\n');
}

const storedGigabytes = [0, 1, 10, 100];
const freezingDays = [30, 90, 180];

/** Cycles (T) that a canister must hold for its freezing threshold, by stored bytes and days. */
export function formatReserves({ empty }: StorageCosts): string {
  const perGigabyteDay = (cyclesPerByteYear * bytesPerGigabyte) / 365.25;
  const lines = storedGigabytes.map((gigabytes) => {
    const perDay = empty.idleCyclesPerDay + gigabytes * perGigabyteDay;
    const reserves = freezingDays.map((days) => Number(((perDay * days) / 1e12).toPrecision(2)));
    const stored = gigabytes === 0 ? 'an empty canister' : `${gigabytes} GB`;
    return `| ${[stored, ...reserves].join(' | ')} |`;
  });
  const heads = ['stored', ...freezingDays.map((days) => `${days} days`)];
  return [`| ${heads.join(' | ')} |`, `|${' --- |'.repeat(heads.length)}`, ...lines].join('\n');
}

/** Expected cycles of a canister and of a gigabyte in it. */
export function formatExpectedCosts(
  rows: readonly BenchRow[],
  { empty, wasmBytes }: { readonly empty: EmptyCanister; readonly wasmBytes: number },
): string {
  // The meter charges compilation and execution; the module itself arrives by ingress.
  const codeCycles = (name: string) =>
    (rows.find((row) => row.name === name)?.cycles ?? 0) + cyclesPerByte * wasmBytes;
  const upload = rows.find((row) => row.name === 'chunk');
  const uploaded = upload ? (upload.cycles / upload.bytes) * bytesPerGigabyte : 0;
  const { memoryBytes, idleCyclesPerDay } = empty;
  const megabytes = (memoryBytes / 1e6).toFixed(1);
  const costs: (readonly [string, number])[] = [
    ['installing', codeCycles('install')],
    ['an upgrade', codeCycles('upgrade')],
    [`an empty canister for a year (${megabytes} MB of memory)`, idleCyclesPerDay * 365.25],
    ['1 GB uploaded', uploaded],
    ['1 GB stored for a year', cyclesPerByteYear * bytesPerGigabyte],
  ];
  const lines = costs.map(
    ([name, cycles]) => `| ${name} | ${Number((cycles / 1e12).toPrecision(2))} |`,
  );
  return ['| expected cost | cycles (T) |', '| --- | --- |', ...lines].join('\n');
}

/** Millions of instructions for each request. */
export type Costs = Readonly<Record<string, number>>;

export function formatScale(results: Readonly<Record<number, Costs>>): string {
  const counts = Object.keys(results).map(Number);
  const requests = Object.keys(results[counts[0] ?? 0] ?? {});
  const heads = ['instructions (M) with', ...counts.map((count) => count.toLocaleString('en-US'))];
  const rows = requests.map((name) => {
    const values = counts.map((count) => results[count]?.[name] ?? 0);
    const growth = (values.at(-1) ?? 0) / (values[0] ?? 1);
    return [name, ...values.map((value) => value.toFixed(1)), growth.toFixed(2)];
  });
  heads.push('last : first');
  const lines = [heads, heads.map(() => '---'), ...rows].map((cells) => cells.join(' | '));
  return lines.map((line) => `| ${line} |`).join('\n');
}

/** Returns the text with the table between the marks `name`; throws if they are missing. */
export function replaceTable(text: string, name: string, table: string): string {
  const [startMark, endMark] = [`<!-- ${name}:start -->`, `<!-- ${name}:end -->`];
  const start = text.indexOf(startMark);
  const end = text.indexOf(endMark);
  if (start === -1 || end < start) {
    throw new Error(
      `The page lacks the marks ${startMark} and ${endMark}; add them where the table belongs.`,
    );
  }
  return `${text.slice(0, start + startMark.length)}\n${table}\n${text.slice(end)}`;
}
