// `efs whoami`: shows the caller that the service will see, and where it comes from.

import type { Command } from 'commander';
import { type Configuration, hasIdentity, type TransportChoice } from '../config/config.ts';
import { configurationOf, json } from '../config/flags.ts';
import type { LoadedIdentity } from '../config/load-identity.ts';
import { printJson } from '../output/output.ts';
import { printRecord } from '../transfers/list.ts';

export function addIdentityCommands(program: Command): void {
  program
    .command('whoami')
    .description('print the principal, identity, profile and address in use')
    .addOption(json())
    .action((flags: { json?: boolean }, command: Command) =>
      whoami(configurationOf(command), flags),
    );
}

const anonymous = '2vxsx-fae';

const waysOfFiles: Readonly<Record<TransportChoice, string>> = {
  actor: 'by the actor',
  http: 'over HTTP',
  both: 'down over HTTP, up by the actor',
};

async function whoami(configuration: Configuration, flags: { json?: boolean }): Promise<void> {
  const { url, host, canisterId, apiKey, profile, replica, transport } = configuration;
  const loaded = await loadedOf(configuration);
  const record = {
    principal: loaded?.identity.getPrincipal().toText() ?? anonymous,
    identity: loaded && sayIdentity(loaded),
    keyKind: loaded?.identity.kind,
    // Shortened as in `efs key ls`.
    apiKey: apiKey && `${apiKey.slice(0, 8)}…`,
    filesGo: waysOfFiles[transport],
    profile,
    replica,
    url,
    host,
    canisterId,
  };
  if (flags.json) {
    const file = loaded?.stored?.file;
    printJson({ ...record, identity: loaded && { source: sourceOf(loaded), file } });
  } else printRecord({ ...record, identity: record.identity ?? 'none: calls are anonymous' });
}

async function loadedOf(configuration: Configuration): Promise<LoadedIdentity | undefined> {
  if (!hasIdentity(configuration)) return undefined;
  const { loadIdentity } = await import('../config/load-identity.ts');
  return loadIdentity(configuration);
}

function sourceOf({ stored }: LoadedIdentity): string {
  if (stored === undefined) return 'local replica';
  return stored.store === 'file' ? 'file' : `${stored.store} ${stored.name}`;
}

function sayIdentity(loaded: LoadedIdentity): string {
  const { stored } = loaded;
  if (stored === undefined) return "the local replica's owner";
  return stored.store === 'file'
    ? stored.file
    : `${stored.name} of ${stored.store} (${stored.file})`;
}
