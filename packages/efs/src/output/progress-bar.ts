// A line of progress, cut to the terminal's width, on standard error if that is a terminal.

import type { Progress } from '../../../client/src/types/transfers.ts';
import { formatBytes, formatSeconds } from './output.ts';
import { printable } from './printable.ts';
import { showProgress } from './standard-error.ts';

export interface ProgressBar {
  report(progress: Progress): void;
  stop(): void;
}

export interface OverallProgress {
  /** Returns a callback for the progress of one running file. */
  track(): (progress: Progress) => void;
  /** `bytes`: those that no callback has reported. */
  fileEnded(bytes: number): void;
  stop(): void;
}

const rateWindowMs = 5_000;
const redrawMs = 100;
/** Time overhead of a file in the estimate of the remaining time, as a number of bytes. */
const fileWorkBytes = 100_000;
/** Columns left free for `^C`, which a terminal writes after the line. */
const spareColumns = 3;
const nameColumnsMin = 8;
const nameColumnsMax = 28;
const barColumnsMin = 10;
const barColumnsMax = 40;
const columnsDefault = 80;

function isShown(isQuiet: boolean): boolean {
  return !isQuiet && process.stderr.isTTY === true;
}

export function startProgress(name: string, isQuiet: boolean): ProgressBar {
  if (!isShown(isQuiet)) return { report: () => {}, stop: () => {} };
  const rate = rateMeter();
  const draw = drawer();
  return {
    report({ doneBytes, movedBytes, totalBytes, resumedBytes }) {
      const bytesPerSecond = rate(movedBytes - resumedBytes);
      const leftSeconds = ((totalBytes ?? 0) - movedBytes) / bytesPerSecond;
      const figures = { doneBytes: movedBytes, totalBytes, bytesPerSecond, leftSeconds };
      const state = { name: printable(name), ...figures };
      draw(doneBytes === totalBytes, (columns) => progressLine(state, columns));
    },
    stop: () => showProgress(''),
  };
}

/** Shows progress of work whose number of files and bytes is known. */
export function startOverall(
  whole: { readonly files: number; readonly bytes: number },
  isQuiet: boolean,
): OverallProgress {
  if (!isShown(isQuiet)) return { track: () => () => {}, fileEnded: () => {}, stop: () => {} };
  const rate = rateMeter();
  const workRate = rateMeter();
  const draw = drawer();
  let files = 0;
  let doneBytes = 0;
  let resumed = 0;
  const show = () => {
    const bytesPerSecond = rate(doneBytes - resumed);
    const work = doneBytes + files * fileWorkBytes;
    const workLeft = whole.bytes + whole.files * fileWorkBytes - work;
    const leftSeconds = workLeft / workRate(work - resumed);
    const name = `${files}/${whole.files} files`;
    const state = { name, doneBytes, totalBytes: whole.bytes, bytesPerSecond, leftSeconds };
    draw(files === whole.files, (columns) => progressLine(state, columns));
  };
  if (whole.files > 0) show();
  return {
    track() {
      let before = 0;
      let resumedBefore = 0;
      return (progress) => {
        doneBytes += progress.movedBytes - before;
        resumed += progress.resumedBytes - resumedBefore;
        before = progress.movedBytes;
        resumedBefore = progress.resumedBytes;
        show();
      };
    },
    fileEnded(bytes) {
      files++;
      doneBytes += bytes;
      show();
    },
    stop: () => showProgress(''),
  };
}

export interface CountProgress {
  report(done: number, total: number): void;
  stop(): void;
}

/** Shows how many of many things are done; `things`: their plural. */
export function startCount(things: string, isQuiet: boolean): CountProgress {
  if (!isShown(isQuiet)) return { report: () => {}, stop: () => {} };
  const draw = drawer();
  return {
    report(done, total) {
      const line = `${Math.floor((100 * done) / total)} %  ${done} of ${total} ${things}`;
      draw(done === total, (columns) => line.slice(0, Math.max(columns - spareColumns, 0)));
    },
    stop: () => showProgress(''),
  };
}

/** Limits how often the line is drawn, because terminals are slow. */
function drawer(): (isLast: boolean, line: (columns: number) => string) => void {
  let lastMs = Number.NEGATIVE_INFINITY;
  return (isLast, line) => {
    const now = performance.now();
    if (!isLast && now - lastMs < redrawMs) return;
    lastMs = now;
    showProgress(line(process.stderr.columns || columnsDefault));
  };
}

export interface ProgressState {
  readonly name: string;
  readonly doneBytes: number;
  readonly totalBytes: number | undefined;
  readonly bytesPerSecond: number;
  readonly leftSeconds: number;
}

/** Cuts the line to the terminal's width: a longer one could not be erased. */
export function progressLine(state: ProgressState, columns: number): string {
  const room = columns - spareColumns;
  const figures = figuresOf(state);
  let tail = figures.join('  ');
  // Drops the least important figures first; the completed amount stays longest.
  while (figures.length > 1 && tail.length + 2 + nameColumnsMin > room) {
    figures.pop();
    tail = figures.join('  ');
  }
  const nameRoom = Math.min(nameColumnsMax, room - tail.length - 2);
  if (nameRoom < nameColumnsMin) return tail.slice(0, Math.max(room, 0));
  const name = shortened(state.name, nameRoom);
  const barRoom = room - columnsOf(name) - tail.length - 4;
  const bar = barOf(state, Math.min(barRoom, barColumnsMax));
  return [name, ...(bar === '' ? [] : [bar]), tail].join('  ');
}

function figuresOf({ doneBytes, totalBytes, ...speed }: ProgressState): string[] {
  const { bytesPerSecond, leftSeconds } = speed;
  const rate = bytesPerSecond > 0 ? `${formatBytes(bytesPerSecond)}/s` : '–';
  if (totalBytes === undefined) return [formatBytes(doneBytes), rate];
  const percent = totalBytes === 0 ? 100 : Math.floor((100 * doneBytes) / totalBytes);
  return [
    `${percent} %`,
    `${formatBytes(doneBytes)} of ${formatBytes(totalBytes)}`,
    rate,
    Number.isFinite(leftSeconds) ? `${formatSeconds(leftSeconds)} left` : '– left',
  ];
}

function barOf({ doneBytes, totalBytes }: ProgressState, columns: number): string {
  if (totalBytes === undefined || columns < barColumnsMin) return '';
  const inner = columns - 2;
  const share = totalBytes === 0 ? 1 : Math.min(1, doneBytes / totalBytes);
  const full = Math.floor(inner * share);
  return `[${'#'.repeat(full)}${'-'.repeat(inner - full)}]`;
}

/** Returns an upper limit of the columns: many characters beyond ASCII take two. */
function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += character <= '\u02ff' || character === '…' ? 1 : 2;
  return columns;
}

/** Keeps the end, which distinguishes files. */
function shortened(name: string, columns: number): string {
  if (columnsOf(name) <= columns) return name;
  const characters = [...name];
  while (columnsOf(characters.join('')) > columns - 1) characters.shift();
  return `…${characters.join('')}`;
}

/** Returns the bytes per second of the last seconds. */
function rateMeter(): (bytes: number) => number {
  const samples: [timeMs: number, bytes: number][] = [[performance.now(), 0]];
  return (bytes) => {
    const now = performance.now();
    samples.push([now, bytes]);
    while (samples.length > 2 && now - (samples[0]?.[0] ?? now) > rateWindowMs) samples.shift();
    const [since, before] = samples[0] ?? [now, bytes];
    return now > since ? (1_000 * (bytes - before)) / (now - since) : 0;
  };
}
