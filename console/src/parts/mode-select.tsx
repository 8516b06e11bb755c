// A select for the mode of a retention.

import type { Signal } from '@preact/signals';
import type { RetentionMode } from '../../../packages/client/src/types/retention.ts';
import { texts } from '../language.ts';

const modes: readonly RetentionMode[] = ['governance', 'compliance'];

export function ModeSelect({ mode }: { mode: Signal<RetentionMode> }) {
  const { retention: words } = texts();
  return (
    <label>
      {words.mode}
      <select
        value={mode.value}
        onChange={({ currentTarget }) => {
          mode.value = currentTarget.value as RetentionMode;
        }}
      >
        {modes.map((one) => (
          <option key={one} value={one}>
            {words.modes[one]}
          </option>
        ))}
      </select>
    </label>
  );
}
