// Replaces icp and dfx in pages that call the service: `icp canister call CANISTER METHOD ARGUMENTS
// [--query] [-e ENVIRONMENT]`. The canister is file_storage or front. It calls with the identity that controls the service, and
// fails if the service returns an error. not-run.ts lists their other commands.

import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Actor, HttpAgent } from '@icp-sdk/core/agent';
import { IDL } from '@icp-sdk/core/candid';
import { idlFactory } from '../../../packages/client/src/candid/file_storage.did.ts';
import { identityFromPem } from '../../../packages/client/src/node/identity.ts';
import { readArguments } from './candid-text.ts';

async function main(): Promise<void> {
  const { positionals } = parseArgs({
    allowPositionals: true,
    options: {
      query: { type: 'boolean' },
      environment: { type: 'string', short: 'e' },
      network: { type: 'string' },
    },
  });
  const [group, verb, name, method = '', text = '()'] = positionals;
  const { EFS_PAGE_CANISTER, EFS_PAGE_FRONT } = process.env;
  const ids = new Map([
    ['file_storage', EFS_PAGE_CANISTER],
    ['front', EFS_PAGE_FRONT],
  ]);
  const canisterId = ids.get(name ?? '');
  if (group !== 'canister' || verb !== 'call' || canisterId === undefined) {
    throw new Error(`Tests cannot run this command: icp ${positionals.join(' ')}`);
  }
  const { EFS_PAGE_URL = '', EFS_PAGE_IDENTITY = '' } = process.env;
  const service = idlFactory({ IDL });
  const signature = service._fields.find(([field]) => field === method)?.[1];
  if (signature === undefined) throw new Error(`The service has no method ${method}`);
  const identity = await identityFromPem(readFileSync(EFS_PAGE_IDENTITY, 'utf8'));
  const agent = await HttpAgent.create({
    host: EFS_PAGE_URL,
    shouldFetchRootKey: true,
    identity,
  });
  const actor = Actor.createActor(() => service, { agent, canisterId });
  const call = actor[method] as (...words: unknown[]) => Promise<{ ok?: unknown; err?: string }>;
  const result = await call(...readArguments(text, signature.argTypes));
  if (result.err !== undefined) throw new Error(result.err);
  const shown = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value);
  console.log(JSON.stringify(result.ok, shown, 2));
}

main().catch((error) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
