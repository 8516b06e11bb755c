// Formats times for people, in local time with the offset from UTC. JSON has ISO 8601 in UTC.

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
