// Notices at the bottom. The live region is always present, so that screen readers observe it.

import { texts } from '../language.ts';
import { dismiss, type Notice, notices } from '../notices.ts';
import { Icon } from './icon.tsx';

export function Notices() {
  return (
    <section class="notices" role="status" aria-live="polite" aria-label={texts().page.notices}>
      {notices.value.map((notice) => (
        <OneNotice key={notice.id} notice={notice} />
      ))}
    </section>
  );
}

function OneNotice({ notice }: { notice: Notice }) {
  const { id, text, isFailure, action } = notice;
  return (
    <div class={isFailure ? 'notice failed' : 'notice'}>
      <span>{text}</span>
      {action && (
        <button
          type="button"
          onClick={() => {
            dismiss(id);
            action.run();
          }}
        >
          {action.label}
        </button>
      )}
      <button
        type="button"
        class="plain"
        onClick={() => dismiss(id)}
        aria-label={texts().page.dismiss}
      >
        <Icon name="close" />
      </button>
    </div>
  );
}
