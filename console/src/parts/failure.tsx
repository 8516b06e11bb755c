// What has failed, where it was asked for, read out at once.

export function Failure({ text, onRetry }: { text: string | undefined; onRetry?: () => void }) {
  if (text === undefined) return null;
  return (
    <p class="failure" role="alert">
      {text}
      {onRetry && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </p>
  );
}
