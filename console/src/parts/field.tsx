// A labelled text field with an optional hint.

import type { Signal } from '@preact/signals';
import { useRef } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly value: Signal<string>;
  readonly hint?: string;
  readonly isRequired?: boolean;
  readonly isSecret?: boolean;
  /** Receives the focus when a dialog opens. */
  readonly isFirst?: boolean;
  /** Pattern of a field that takes only digits. */
  readonly digits?: string;
}

let lastId = 0;

export function Field(props: FieldProps) {
  const { label, value, hint, isRequired, isSecret, isFirst, digits } = props;
  const id = useRef(`field-${++lastId}`).current;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        {...(isSecret ? { type: 'password' as const } : { type: 'text' as const })}
        inputmode={digits ? 'numeric' : 'text'}
        pattern={digits}
        required={isRequired}
        autocomplete="off"
        dir="auto"
        autocapitalize="off"
        spellcheck={false}
        data-first={isFirst}
        aria-describedby={hint && `${id}-hint`}
        value={value.value}
        onInput={({ currentTarget }) => {
          value.value = currentTarget.value;
        }}
      />
      {hint && <small id={`${id}-hint`}>{hint}</small>}
    </div>
  );
}
