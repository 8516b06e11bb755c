// A select for the expiry of links and keys.

import type { Signal } from '@preact/signals';
import { texts } from '../language.ts';
import { dayMs } from '../words.ts';

/** In `days`, '' means no expiry. */
export function ExpirySelect({ days }: { days: Signal<string> }) {
  const { expiry } = texts();
  const terms = [
    ['1', expiry.day],
    ['7', expiry.week],
    ['30', expiry.month],
    ['', expiry.none],
  ] as const;
  return (
    <label>
      {expiry.label}
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
