// Waiting for a signal's abort: many requests at a time wait for one signal, which gets one
// listener for all of them. Node takes more than ten for a leak and says so.

const waitingFor = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * `stop` is called once, when the signal is aborted; not when it was before. What is returned ends
 * the waiting. Each function waits for a signal once at a time.
 */
export function onAbort(signal: AbortSignal | undefined, stop: () => void): () => void {
  if (signal === undefined) return () => {};
  const waiting = waitingFor.get(signal) ?? startListening(signal);
  waiting.add(stop);
  return () => {
    waiting.delete(stop);
  };
}

/** One listener, as long as the signal lives: it holds nothing but those who wait. */
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
