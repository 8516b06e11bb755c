// The table of the client's bench.

export interface Measurement {
  readonly megabytesPerSecond: number;
  /** Peak of the client's resident memory. */
  readonly peakMegabytes: number;
  /** Seconds of processor time. */
  readonly clientSeconds: number;
  /** Seconds of processor time, with the canister's. */
  readonly replicaSeconds: number;
  /** Wall-clock time of the canister's messages; absent with another server. */
  readonly canisterSeconds?: number;
}

export const headings = [
  '| transfer, parallel | MB/s | client: peak MB | client: CPU s | replica: CPU s | canister: s |',
  '| --- | --- | --- | --- | --- | --- |',
].join('\n');

export function formatRow(title: string, measurement: Measurement): string {
  const { megabytesPerSecond, peakMegabytes, clientSeconds } = measurement;
  const cells = [
    title,
    megabytesPerSecond.toFixed(1),
    peakMegabytes.toFixed(0),
    clientSeconds.toFixed(1),
    measurement.replicaSeconds.toFixed(1),
    measurement.canisterSeconds?.toFixed(1) ?? '',
  ];
  return `| ${cells.join(' | ')} |`;
}

/** The row of an optional program that is not installed. */
export function absentRow(program: string): string {
  return `| ${program} is not installed | | | | | |`;
}
