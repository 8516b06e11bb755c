// One run of the command: its configuration, its storages, and the signal of Ctrl-C.

import type { BucketSecrets } from '../../../client/src/bucket-secrets.ts';
import type { Storage } from '../../../client/src/storage.ts';
import {
  type Configuration,
  openManager,
  openOverseer,
  openSecrets,
  openStorage,
  serviceName,
} from './config.ts';
import { retryNotes } from './retry-notes.ts';

export interface Run {
  /** For files. */
  readonly storage: () => Promise<Storage>;
  /** For buckets and keys. */
  readonly manager: () => Promise<Storage>;
  /** For what the service tells owners more of than others. */
  readonly overseer: () => Promise<Storage>;
  /** Of end-to-end buckets, for what the same caller does with files; modes are asked for once. */
  readonly secrets: () => Promise<BucketSecrets>;
  /** For what owners do with them. */
  readonly ownSecrets: () => Promise<BucketSecrets>;
  readonly service: string;
  readonly canisterId: string | undefined;
  /** Of HTTP, where it is known. */
  readonly url: string | undefined;
  readonly signal: AbortSignal;
  readonly isQuiet: boolean;
}

export function startRun(configuration: Configuration, isQuiet: boolean): Run {
  const { url, host, transport } = configuration;
  const address = transport === 'http' ? url : host;
  const onRetry = isQuiet ? undefined : retryNotes(`${address ?? host}`);
  const watched = { ...configuration, onRetry };
  const controller = new AbortController();
  let secrets: Promise<BucketSecrets> | undefined;
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => {
      controller.abort(new Error(name));
      // A second one ends the process at once.
    });
  }
  return {
    storage: () => openStorage(watched),
    manager: () => openManager(watched),
    overseer: () => openOverseer(watched),
    secrets() {
      secrets ??= openSecrets(watched, 'files');
      return secrets;
    },
    ownSecrets: () => openSecrets(watched, 'manager'),
    service: serviceName(configuration),
    url: configuration.url,
    canisterId: configuration.canisterId,
    signal: controller.signal,
    isQuiet,
  };
}
