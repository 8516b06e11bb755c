// Waits for a signal's abort. Many requests share one signal; they share one listener too, because
// Node warns about more than ten.

const waitingFor = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `stop` once when the signal is aborted, unless it was aborted before. The returned function
 * ends the waiting. A function can wait for a signal only once at a time.
 */
export function onAbort(signal: AbortSignal | undefined, stop: () => void): () => void {
  if (signal === undefined) return () => {};
  const waiting = waitingFor.get(signal) ?? startListening(signal);
  waiting.add(stop);
  return () => {
    waiting.delete(stop);
  };
}

/** The listener lives as long as the signal, and holds only the waiting functions. */
function startListening(signal: AbortSignal): Set<() => void> {
  const waiting = new Set<() => void>();
  waitingFor.set(signal, waiting);
  const stopAll = () => {
    for (const stop of [...waiting]) stop();
    waiting.clear();
  };
  signal.addEventListener('abort', stopAll, { once: true });
  return waiting;
}
