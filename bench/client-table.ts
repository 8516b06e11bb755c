// The table of the client's bench.

export interface Measurement {
  readonly megabytesPerSecond: number;
  /** Peak of the client's resident memory. */
  readonly peakMegabytes: number;
  /** Seconds of processor time. */
  readonly clientSeconds: number;
  /** The canister's included. */
  readonly replicaSeconds: number;
  /** By the clock: of the messages that the canister has run. Absent with another server. */
  readonly canisterSeconds?: number;
}

export const headings = [
  '| transfer, parallel | MB/s | client: peak MB | client: CPU s | replica: CPU s | of it canister |',
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

/** A program that the bench can do without. */
export function absentRow(program: string): string {
  return `| ${program} is not installed | | | | | |`;
}
