// A select for the expiry of links and keys.

import type { Signal } from '@preact/signals';
import { dayMs } from '../words.ts';

const terms = [
  ['1', 'a day'],
  ['7', 'a week'],
  ['30', '30 days'],
  ['', 'no limit'],
] as const;

/** In `days`, '' means no expiry. */
export function ExpirySelect({ days }: { days: Signal<string> }) {
  return (
    <label>
      It works for
      <select
        value={days.value}
        onChange={({ currentTarget }) => {
          days.value = currentTarget.value;
        }}
      >
        {terms.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}

export function expiryAfter(days: string): Date | undefined {
  return days === '' ? undefined : new Date(Date.now() + Number(days) * dayMs);
}
