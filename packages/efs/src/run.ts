// One run of the command: its configuration, its storages, and the signal of Ctrl-C.

import type { Storage } from '../../client/src/storage.ts';
import { type Configuration, openManager, openStorage, serviceName } from './config.ts';
import { retryNotes } from './retry-notes.ts';

export interface Run {
  /** For files. */
  readonly storage: () => Promise<Storage>;
  /** For buckets and keys. */
  readonly manager: () => Promise<Storage>;
  readonly service: string;
  /** Of HTTP, where it is known. */
  readonly url: string | undefined;
  readonly signal: AbortSignal;
  readonly isQuiet: boolean;
}

export function startRun(configuration: Configuration, isQuiet: boolean): Run {
  const { url, host, transport } = configuration;
  const watched = (storage: Storage): Storage => {
    const address = transport === 'http' ? url : host;
    if (!isQuiet) storage.watchRetries(retryNotes(`${address ?? host}`));
    return storage;
  };
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => {
      controller.abort(new Error(name));
      // A second one ends the process at once.
    });
  }
  return {
    storage: async () => watched(await openStorage(configuration)),
    manager: async () => watched(await openManager(configuration)),
    service: serviceName(configuration),
    url: configuration.url,
    signal: controller.signal,
    isQuiet,
  };
}
