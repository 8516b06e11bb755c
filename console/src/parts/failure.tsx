// A failure, shown beside the action that failed and read aloud at once.

import { texts } from '../language.ts';

export function Failure({ text, onRetry }: { text: string | undefined; onRetry?: () => void }) {
  if (text === undefined) return null;
  return (
    <p class="failure" role="alert">
      {text}
      {onRetry && (
        <button type="button" onClick={onRetry}>
          {texts().page.tryAgain}
        </button>
      )}
    </p>
  );
}
