// One run of the command: its configuration, its storages, and the signal of Ctrl-C.

import type { Storage } from '../storage.ts';
import { type Configuration, openManager, openStorage, serviceName } from './config.ts';

export interface Run {
  /** For files. */
  readonly storage: () => Promise<Storage>;
  /** For buckets and keys. */
  readonly manager: () => Promise<Storage>;
  readonly service: string;
  /** Of HTTP, where it is known. */
  readonly url: string | undefined;
  readonly canisterId: string | undefined;
  readonly signal: AbortSignal;
  readonly isQuiet: boolean;
}

export function startRun(configuration: Configuration, isQuiet: boolean): Run {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => {
      controller.abort(new Error(name));
      // A second one ends the process at once.
    });
  }
  return {
    storage: () => openStorage(configuration),
    manager: () => openManager(configuration),
    service: serviceName(configuration),
    url: configuration.url,
    canisterId: configuration.canisterId,
    signal: controller.signal,
    isQuiet,
  };
}
