// A text with a copy button: a principal, a command line or an address.

import { useSignal } from '@preact/signals';
import { tell } from '../notices.ts';

interface CopyProps {
  readonly text: string;
  readonly label: string;
  /** Short form that is shown instead of a long text. */
  readonly shown?: string;
}

export function CopyText({ text, label, shown = text }: CopyProps) {
  const isCopied = useSignal(false);
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      isCopied.value = true;
      tell('Copied.');
    } catch {
      tell('The browser does not let this page copy: select the text and copy it.', {
        isFailure: true,
      });
    }
  }
  return (
    <div class="copy-text">
      <code>{shown}</code>
      <button type="button" onClick={() => void copy()} aria-label={`Copy ${label}`}>
        {isCopied.value ? 'Copied' : 'Copy'}
      </button>
    </div>
  );
}
