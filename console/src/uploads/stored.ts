// Listeners for files that this page has stored.

import type { FileRecord } from '../../../packages/client/src/types/files.ts';

type Listener = (bucket: string, files: readonly FileRecord[]) => void;

const listeners = new Set<Listener>();

/** Adds a listener; the returned function removes it. */
export function onStored(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function tellStored(bucket: string, files: readonly FileRecord[]): void {
  for (const listener of listeners) listener(bucket, files);
}
