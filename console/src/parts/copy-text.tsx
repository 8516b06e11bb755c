// A text to be copied as it is: a principal, a line for a terminal, an address.

import { useSignal } from '@preact/signals';
import { tell } from '../notices.ts';

export function CopyText({ text, label }: { text: string; label: string }) {
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
      <code>{text}</code>
      <button type="button" onClick={() => void copy()} aria-label={`Copy ${label}`}>
        {isCopied.value ? 'Copied' : 'Copy'}
      </button>
    </div>
  );
}
