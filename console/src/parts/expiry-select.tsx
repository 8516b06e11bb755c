// For how long what is handed out shall work.

import type { Signal } from '@preact/signals';
import { dayMs } from '../words.ts';

const terms = [
  ['1', 'a day'],
  ['7', 'a week'],
  ['30', '30 days'],
  ['', 'no limit'],
] as const;

/** `days`: '' for no limit. */
export function Term({ days }: { days: Signal<string> }) {
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

export function endOfTerm(days: string): Date | undefined {
  return days === '' ? undefined : new Date(Date.now() + Number(days) * dayMs);
}
