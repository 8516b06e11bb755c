// `efs serve s3`: runs the S3 server, and chooses the account for each access key.

import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { Command } from 'commander';
import { programVolumeMemory } from '../../../client/src/service-places.ts';
import type { Account, Credential } from '../../../s3/src/index.ts';
import { type Configuration, hasIdentity } from '../config/config.ts';
import { configurationOf, runOf } from '../config/flags.ts';
import { openLister, openManager, openSecrets, openStorage } from '../config/open-storage.ts';
import { profilesStamp } from '../config/profiles.ts';
import { printLine, printNote } from '../output/output.ts';
import { stateFolder } from '../transfers/transfer-state.ts';
import { listen, parseListen } from './listen.ts';
import { accessKeys } from './s3-access-keys.ts';
import { configurationFor } from './s3-configuration.ts';

export interface ServeFlags {
  readonly listen: string;
  readonly readOnly?: boolean;
  readonly domain?: string;
  readonly corsOrigin?: readonly string[];
}

/** Runs until Ctrl-C, which lets running requests finish. */
export async function serveS3(command: Command, flags: ServeFlags): Promise<void> {
  const address = parseListen(flags.listen, '127.0.0.1:9000');
  const { host, port } = address;
  const configuration = configurationOf(command);
  const { signal, isQuiet } = runOf(command);
  // Makes V8 collect chunks earlier: 20 MB less with 16 requests at once, but a tenth more time.
  setFlagsFromString('--optimize-for-size');
  const { createS3Server } = await import('../../../s3/src/index.ts');
  const credentials = accessKeys();
  const s3Server = createS3Server({
    credentials,
    openAccount: (credential) => openAccount(configuration, credential),
    accountsStamp: () => profilesStamp(process.env),
    multipart: { folder: uploadsFolder(host, port) },
    isReadOnly: flags.readOnly,
    domain: flags.domain,
    corsOrigins: flags.corsOrigin,
    log: isQuiet ? undefined : printNote,
  });
  const url = await listen(s3Server.server, address);
  printLine(`S3 at ${url}`);
  const keys = await credentials.list();
  printNote(hintOf(url, keys[0]?.accessKeyId));
  await new Promise((resolve) => {
    signal.addEventListener('abort', resolve, { once: true });
  });
  await s3Server.close();
}

/** Returns a folder that only a server at this address uses, and finds again after a restart. */
function uploadsFolder(host: string, port: number): string {
  return join(stateFolder(), 's3', `${host.replace(/[^\w.-]/g, '_')}-${port}`);
}

function hintOf(url: string, accessKeyId: string | undefined): string {
  if (accessKeyId === undefined) {
    return 'No access key exists yet, so only public buckets can be read: efs serve s3 credentials create.';
  }
  const keys = `AWS_ACCESS_KEY_ID=${accessKeyId} AWS_SECRET_ACCESS_KEY=…`;
  return [
    `aws:    ${keys} AWS_ENDPOINT_URL_S3=${url} AWS_REGION=auto aws s3 ls`,
    `rclone: rclone config create efs s3 provider=Other endpoint=${url} access_key_id=${accessKeyId}`,
    '          secret_access_key=… region=auto force_path_style=true',
  ].join('\n');
}

/** Opens the account of an access key, or of nobody, with a memory of the volumes of its own. */
export async function openAccount(
  served: Configuration,
  credential: Credential | undefined,
): Promise<Account> {
  const volumeMemory = programVolumeMemory();
  const configuration = { ...configurationFor(served, credential), volumeMemory };
  // An identity can also manage buckets.
  const { host, canisterId } = configuration;
  const isOwner = host !== undefined && canisterId !== undefined && hasIdentity(configuration);
  if (!isOwner) {
    const storage = await openStorage(configuration);
    return { storage, secrets: await openSecrets(configuration, 'files') };
  }
  const storage = await openManager(configuration);
  const lister = await openLister(configuration);
  const buckets = { ...storage.buckets, list: () => lister.buckets.list() };
  return {
    storage: { ...storage, buckets },
    secrets: await openSecrets(configuration, 'manager'),
  };
}
