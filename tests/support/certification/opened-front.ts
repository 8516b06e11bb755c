// A front on a replica without a server: sends requests as a gateway does, and verifies the answers
// with the official verifier.

import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import type { CanisterAnswer } from '../../../packages/replica/src/gateway/candid-messages.ts';
import { type Replica, startReplica } from '../../../packages/replica/src/replica.ts';
import { buildCanister } from '../../../scripts/build.ts';
import { newIdentity, principalOf } from '../../../scripts/local-service.ts';
import { type AskedCanister, askedCanister } from './asked-canister.ts';

export interface OpenedFront extends AskedCanister {
  readonly replica: Replica;
  readonly canisterId: Principal;
  readonly controller: Principal;
  upgrade(): Promise<void>;
}

/** Returns the argument of install and upgrade with a role. */
export function roleArgument(role: object): Uint8Array {
  const Volume = IDL.Record({ front: IDL.Opt(IDL.Principal) });
  const Role = IDL.Variant({ volume: Volume, front: IDL.Null });
  const Settings = IDL.Opt(IDL.Record({ role: IDL.Opt(Role) }));
  return new Uint8Array(IDL.encode([Settings], [[{ role: [role] }]]));
}

export async function unzippedText({ headers, body }: CanisterAnswer): Promise<string> {
  const isZipped = headers.some(([name]) => name === 'Content-Encoding');
  return Buffer.from(isZipped ? await promisify(gunzip)(body) : body).toString();
}

export async function openFront(): Promise<OpenedFront> {
  const { wasmPath } = await buildCanister({ force: false });
  const wasm = new Uint8Array(await readFile(wasmPath));
  const replica = await startReplica({ server: false });
  const sender = principalOf(newIdentity());
  const canisterId = await replica.createCanister({ controllers: [sender] });
  await replica.install(canisterId, wasm, roleArgument({ front: null }));
  return {
    ...askedCanister(replica, { canisterId, controller: sender }),
    replica,
    canisterId,
    controller: sender,
    upgrade: () => replica.upgrade(canisterId, wasm, undefined, { sender }),
  };
}
