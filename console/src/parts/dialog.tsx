// The browser's own dialog, which traps and restores the focus and closes with Escape.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { texts } from '../language.ts';
import { Icon } from './icon.tsx';

export interface DialogProps {
  readonly title: string;
  onClose(): void;
  readonly children: ComponentChildren;
}

let lastId = 0;

export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useRef(`dialog-${++lastId}`);
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    element?.querySelector<HTMLElement>('[data-first]')?.focus();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id.current}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onKeyDown={(event) => event.stopPropagation()}
    >
      <header>
        <h2 id={id.current}>{title}</h2>
        <button type="button" class="plain" onClick={onClose} aria-label={texts().page.close}>
          <Icon name="close" />
        </button>
      </header>
      {children}
    </dialog>
  );
}
