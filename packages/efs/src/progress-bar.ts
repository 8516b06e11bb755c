// A bar with rate and time left while a file is on its way; nothing at all when standard error is
// no terminal.

import { Presets, SingleBar } from 'cli-progress';
import type { Progress } from '../../client/src/interface.ts';
import { formatBytes, formatSeconds, printable } from './output.ts';

export interface ProgressBar {
  report(progress: Progress): void;
  stop(): void;
}

const rateWindowMs = 5_000;
const nameLengthMax = 28;
const wholeFormat = '{name} [{bar}] {percentage}% | {done} of {whole} | {rate} | {left} left';
const openFormat = '{name} | {done} | {rate}';

export function startProgress(name: string, isQuiet: boolean): ProgressBar {
  if (isQuiet || !process.stderr.isTTY) return { report: () => {}, stop: () => {} };
  const rate = rateMeter();
  let bar: SingleBar | undefined;
  return {
    report({ doneBytes, totalBytes, resumedBytes }) {
      const bytesPerSecond = rate(doneBytes - resumedBytes);
      const leftSeconds = ((totalBytes ?? 0) - doneBytes) / bytesPerSecond;
      const payload = {
        name: shortened(printable(name)),
        done: formatBytes(doneBytes),
        whole: formatBytes(totalBytes ?? 0),
        rate: bytesPerSecond > 0 ? `${formatBytes(bytesPerSecond)}/s` : '–',
        left: bytesPerSecond > 0 ? formatSeconds(leftSeconds) : '–',
      };
      if (bar !== undefined) return bar.update(doneBytes, payload);
      const format = totalBytes === undefined ? openFormat : wholeFormat;
      bar = new SingleBar({ format, stream: process.stderr, hideCursor: true }, Presets.rect);
      bar.start(totalBytes ?? 0, doneBytes, payload);
    },
    stop: () => bar?.stop(),
  };
}

function shortened(name: string): string {
  const characters = [...name];
  return characters.length <= nameLengthMax
    ? name
    : `…${characters.slice(1 - nameLengthMax).join('')}`;
}

/** Bytes a second over the last seconds. */
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
