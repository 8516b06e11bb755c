// A text to be copied as it is: a principal, a line for a terminal, an address.

import { useSignal } from '@preact/signals';
import { tell } from '../notices.ts';

interface CopyProps {
  readonly text: string;
  readonly label: string;
  /** In its place, where it is long. */
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
      tell('The browser does not let the page copy: mark the text and copy it.', {
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
