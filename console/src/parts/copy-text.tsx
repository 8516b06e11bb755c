// A text with a copy button: a principal, a command line or an address.

import { useSignal } from '@preact/signals';
import { texts } from '../language.ts';
import { tell } from '../notices.ts';

interface CopyProps {
  readonly text: string;
  /** Label of the button, such as `Copy the link`. */
  readonly label: string;
  /** Short form that is shown instead of a long text. */
  readonly shown?: string;
  /** Whether copying is the next step. */
  readonly isMain?: boolean;
}

export function CopyText({ text, label, shown = text, isMain = false }: CopyProps) {
  const { copying } = texts();
  const isCopied = useSignal(false);
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      isCopied.value = true;
      tell(texts().copying.isCopied);
    } catch {
      tell(texts().copying.refused, { isFailure: true });
    }
  }
  return (
    <div class="copy-text">
      <code>{shown}</code>
      <button
        type="button"
        class={isMain ? 'main' : undefined}
        onClick={() => void copy()}
        aria-label={label}
      >
        {isCopied.value ? copying.copied : copying.copy}
      </button>
    </div>
  );
}
