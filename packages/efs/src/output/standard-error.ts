// Standard error: lines that stay, and below them one of progress, which none of them tears.

let progress = '';

const eraseLine = '\r\x1b[K';

/** A whole line; the progress goes on below it. */
export function writeErrorLine(text: string): void {
  const isShown = progress !== '';
  process.stderr.write(`${isShown ? eraseLine : ''}${text}\n${progress}`);
}

/** In place of the progress that is shown; the empty text takes it away. */
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
