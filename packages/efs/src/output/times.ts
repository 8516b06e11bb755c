// Formats times for people, in local time with the offset from UTC. JSON has ISO 8601 in UTC.

import { UsageError } from './usage-error.ts';

const two = (value: number) => String(value).padStart(2, '0');

/** Returns the form `2026-11-22 17:49:12 +01:00`, based on ISO 8601. */
export function formatTime(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  const eastMinutes = -date.getTimezoneOffset();
  const distance = Math.abs(eastMinutes);
  const zone = `${two(Math.floor(distance / 60))}:${two(distance % 60)}`;
  return `${day} ${time} ${eastMinutes < 0 ? '-' : '+'}${zone}`;
}

/** Parses `30d`, `12h`, or a date. */
export function parseExpiry(text: string): Date {
  const [, count, unit] = /^(\d{1,6})([dh])$/.exec(text) ?? [];
  const hours = Number(count) * (unit === 'd' ? 24 : 1);
  const date = count === undefined ? new Date(text) : new Date(Date.now() + hours * 3_600_000);
  // Date accepts other texts, such as 40, which would surprise the user.
  const isMeant = count !== undefined || /^\d{4}-\d\d-\d\d(?:T.*)?$/.test(text);
  if (isMeant && Number.isFinite(date.getTime())) return date;
  throw new UsageError(
    `An expiry must be a number of days or hours (30d, 12h) or a date (2027-01-31); got ${text}.`,
  );
}
