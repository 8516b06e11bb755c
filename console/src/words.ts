// Formats counts, sizes and times for users.

const number = new Intl.NumberFormat('en');

/** Returns `3 files`, `1 file` or `no files`. */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${count === 0 ? 'no' : number.format(count)} ${count === 1 ? singular : plural}`;
}

const units = ['kB', 'MB', 'GB', 'TB'];

/** Returns `3.4 MB`: units of 1,000, as for quotas and prices. */
export function sizeOf(bytes: number): string {
  if (bytes < 1_000) return bytes === 1 ? '1 byte' : `${bytes} bytes`;
  let value = bytes / 1_000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${value < 9.95 ? value.toFixed(1) : value.toFixed(0)} ${units[unit]}`;
}

const minute = 60_000;
const hour = 60 * minute;
export const dayMs = 24 * hour;

/** Returns the largest unit only: `6 days`, `3 hours`, `40 seconds`. */
export function spanOf(milliseconds: number): string {
  if (milliseconds < minute)
    return counted(Math.max(1, Math.round(milliseconds / 1_000)), 'second');
  if (milliseconds < hour) return counted(Math.round(milliseconds / minute), 'minute');
  if (milliseconds < 2 * dayMs) return counted(Math.round(milliseconds / hour), 'hour');
  if (milliseconds < 700 * dayMs) return counted(Math.round(milliseconds / dayMs), 'day');
  return counted(Math.round(milliseconds / (365.25 * dayMs)), 'year');
}

const dateFormat = new Intl.DateTimeFormat('en', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
});
const momentFormat = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeStyle: 'short' });

export function momentOf(iso: string): string {
  return momentFormat.format(new Date(iso));
}

/** Returns `2 hours ago` within two days, and later the date. */
export function whenOf(iso: string, now = Date.now()): string {
  const age = now - Date.parse(iso);
  if (age < minute) return 'just now';
  return age < 2 * dayMs ? `${spanOf(age)} ago` : dateFormat.format(new Date(iso));
}

export function expiryOf(iso: string | undefined, now = Date.now()): string {
  if (iso === undefined) return 'does not expire';
  const left = Date.parse(iso) - now;
  return left <= 0 ? 'has expired' : `expires in ${spanOf(left)}`;
}

/** Returns the last segment of a path, without the final slash of a folder. */
export function nameOf(path: string): string {
  const whole = path.endsWith('/') ? path.slice(0, -1) : path;
  return whole.slice(whole.lastIndexOf('/') + 1);
}

/** Returns the parent folder of a path with its slash; '' at the top. */
export function folderOf(path: string): string {
  const whole = path.endsWith('/') ? path.slice(0, -1) : path;
  return whole.slice(0, whole.lastIndexOf('/') + 1);
}

/** Returns `a (2).txt` for `a.txt`, and then `a (3).txt`. */
export function nextName(path: string): string {
  const [, stem = path, count, end = ''] = /^(.*?)(?: \((\d+)\))?(\.[^./]*)?$/s.exec(path) ?? [];
  return `${stem} (${Number(count ?? 1) + 1})${end}`;
}

const kinds: readonly (readonly [pattern: RegExp, kind: string])[] = [
  [/^image\//, 'Image'],
  [/^video\//, 'Video'],
  [/^audio\//, 'Audio'],
  [/^application\/pdf/, 'PDF'],
  [/^text\/markdown/, 'Markdown'],
  [/^text\/html/, 'Web page'],
  [/^text\//, 'Text'],
  [/json/, 'JSON'],
  [/zip|tar|compressed/, 'Archive'],
];

export function kindOf(contentType: string): string {
  return kinds.find(([pattern]) => pattern.test(contentType))?.[1] ?? 'File';
}
