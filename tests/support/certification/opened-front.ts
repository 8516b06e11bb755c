// A front on a network of its own: sends requests as a gateway does, and verifies the answers
// with the official verifier.

import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import type { CanisterAnswer } from '../../../packages/replica/src/gateway/candid-messages.ts';
import { buildCanister } from '../../../scripts/build.ts';
import { openTestNetwork, type TestNetwork } from '../network/test-network.ts';
import { type AskedCanister, askedOn } from './asked-canister.ts';

export interface OpenedFront
  extends AskedCanister,
    Pick<TestNetwork, 'network' | 'replica' | 'stop'> {
  readonly canisterId: Principal;
  readonly identityPem: string;
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
  const opened = await openTestNetwork();
  const { network, replica, identityPem, stop } = opened;
  const id = await network.create(10n ** 15n);
  await network.install(id, wasm, roleArgument({ front: null }));
  return {
    ...askedOn(opened, id),
    ...{ network, replica, identityPem, stop },
    canisterId: Principal.fromText(id),
    upgrade: () => network.upgrade(id, wasm),
  };
}
