// A dialog that asks before something is lost: says what, and waits for the answer.

import type { ComponentChildren } from 'preact';
import { texts } from '../language.ts';
import { Dialog } from './dialog.tsx';
import { Failure } from './failure.tsx';
import { useTask } from './task.ts';

interface ConfirmProps {
  readonly title: string;
  readonly label: string;
  /** Label while the work is in progress. */
  readonly underWay: string;
  /** The dialog stays open with the reason if this fails. */
  confirm(): Promise<void>;
  onClose(): void;
  readonly children: ComponentChildren;
}

export function ConfirmDialog(props: ConfirmProps) {
  const { title, label, underWay, confirm, onClose, children } = props;
  const { isUnderWay, failure, run } = useTask();
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="made">{children}</div>
      <Failure text={failure.value} />
      <div class="buttons">
        <button
          type="button"
          class="danger main"
          data-first
          disabled={isUnderWay.value}
          onClick={() => void run(confirm)}
        >
          {isUnderWay.value ? underWay : label}
        </button>
        <button type="button" onClick={onClose}>
          {texts().page.cancel}
        </button>
      </div>
    </Dialog>
  );
}
