// Formats sizes and times in the language of the page, and takes paths apart.

import { language, texts } from './language.ts';

/** Caches a format of the present language, because a list formats hundreds of values. */
function cached<Format>(make: (language: string) => Format): () => Format {
  let made: { readonly language: string; readonly format: Format } | undefined;
  return () => {
    const own = language();
    if (made?.language !== own) made = { language: own, format: make(own) };
    return made.format;
  };
}

function decimals(digits: number) {
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return cached((own) => new Intl.NumberFormat(own, options));
}

const whole = decimals(0);
const oneDecimal = decimals(1);
const relative = cached((own) => new Intl.RelativeTimeFormat(own));
const moment = cached((own) => {
  return new Intl.DateTimeFormat(own, { dateStyle: 'long', timeStyle: 'short' });
});
const date = cached((own) => {
  return new Intl.DateTimeFormat(own, { day: 'numeric', month: 'short', year: 'numeric' });
});

const units = ['kB', 'MB', 'GB', 'TB'];

/** Returns `3.4 MB`: units of 1,000, as for quotas and prices. */
export function sizeOf(bytes: number): string {
  if (bytes < 1_000) return texts().words.bytes(bytes);
  let value = bytes / 1_000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${(value < 9.95 ? oneDecimal : whole)().format(value)} ${units[unit]}`;
}

const minute = 60_000;
const hour = 60 * minute;
export const dayMs = 24 * hour;

type Unit = 'second' | 'minute' | 'hour' | 'day' | 'year';

function largestUnit(milliseconds: number): readonly [count: number, unit: Unit] {
  if (milliseconds < minute) return [Math.max(1, Math.round(milliseconds / 1_000)), 'second'];
  if (milliseconds < hour) return [Math.round(milliseconds / minute), 'minute'];
  if (milliseconds < 2 * dayMs) return [Math.round(milliseconds / hour), 'hour'];
  if (milliseconds < 700 * dayMs) return [Math.round(milliseconds / dayMs), 'day'];
  return [Math.round(milliseconds / (365.25 * dayMs)), 'year'];
}

/** Returns the largest unit only: `6 days`, `3 hours`, `40 seconds`. */
export function spanOf(milliseconds: number): string {
  const [count, unit] = largestUnit(milliseconds);
  return count.toLocaleString(language(), { style: 'unit', unit, unitDisplay: 'long' });
}

/** Returns `in 6 days`, and for a negative time `6 days ago`. */
export function distanceOf(milliseconds: number): string {
  const [count, unit] = largestUnit(Math.abs(milliseconds));
  return relative().format(milliseconds < 0 ? -count : count, unit);
}

/** Returns `3 days ago`, at any distance. */
export function agoOf(iso: string, now = Date.now()): string {
  const age = now - Date.parse(iso);
  return age < minute ? texts().words.justNow : distanceOf(-age);
}

export function momentOf(iso: string): string {
  return moment().format(new Date(iso));
}

/** Returns `2 hours ago` within two days, and later the date. */
export function whenOf(iso: string, now = Date.now()): string {
  return whenWith(iso, now, (date) => date);
}

/** Returns the same as a part of a sentence, where some languages have a word before the date. */
export function whenWithin(iso: string, now = Date.now()): string {
  return whenWith(iso, now, texts().words.onDate);
}

function whenWith(iso: string, now: number, onDate: (date: string) => string): string {
  const age = now - Date.parse(iso);
  if (age < minute) return texts().words.justNow;
  if (age < 2 * dayMs) return distanceOf(-age);
  return onDate(date().format(new Date(iso)));
}

export function expiryOf(iso: string | undefined, now = Date.now()): string {
  const { words } = texts();
  if (iso === undefined) return words.noExpiry;
  const left = Date.parse(iso) - now;
  return left <= 0 ? words.expired : words.expires(distanceOf(left));
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

/** Returns a folder with its bucket, without the last slash: `demo/summer`. */
export function placeName(bucket: string, prefix: string): string {
  return `${bucket}/${prefix}`.replace(/\/$/, '');
}
