// Standard error: permanent lines, and below them a line of progress that they do not break.

let progress = '';

const eraseLine = '\r\x1b[K';

/** Writes a whole line and redraws the progress below it. */
export function writeErrorLine(text: string): void {
  const isShown = progress !== '';
  process.stderr.write(`${isShown ? eraseLine : ''}${text}\n${progress}`);
}

/** Replaces the shown progress; the empty text removes it. */
export function showProgress(text: string): void {
  if (text === progress) return;
  process.stderr.write(`${eraseLine}${text}`);
  progress = text;
}

/** Writes to standard output on a line of its own if both streams are the same terminal. */
export function withoutProgress(write: () => void): void {
  if (progress !== '') process.stderr.write(eraseLine);
  write();
  if (progress !== '') process.stderr.write(progress);
}
