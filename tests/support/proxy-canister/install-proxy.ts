// Installs the proxy canister beside a cloud engine, and names it to canisters of the engine.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import type { Replica } from '../../../packages/replica/src/replica.ts';
import { buildAzle } from '../wasm-canisters/azle-project.ts';

let built: Promise<Uint8Array> | undefined;

/** A process builds it once. */
function proxyModule(): Promise<Uint8Array> {
  built ??= readFile(join(import.meta.dirname, 'proxy.ts'), 'utf8').then(buildAzle);
  return built;
}

/** The ids of the first subnet besides the root subnet. */
const engineRange = {
  start: Principal.fromHex('00000000001000000101'),
  end: Principal.fromHex('00000000001FFFFF0101'),
};

/** Installs a proxy on the root subnet, for the canisters of the engine or for none. */
export async function installProxy(
  replica: Replica,
  wish: { readonly cycles?: bigint; readonly isForEngine?: boolean } = {},
): Promise<Principal> {
  const { cycles = 10n ** 15n, isForEngine = true } = wish;
  const id = await replica.createCanister({ subnet: replica.rootSubnet, cycles });
  const Range = IDL.Record({ start: IDL.Principal, end: IDL.Principal });
  const argument = new Uint8Array(IDL.encode([IDL.Vec(Range)], [isForEngine ? [engineRange] : []]));
  await replica.install(id, await proxyModule(), argument);
  return id;
}

/** Sets the environment variable by which the canister finds its proxy. */
export async function nameProxy(
  replica: Replica,
  names: { readonly canisterId: Principal; readonly proxy: Principal; readonly sender: Principal },
): Promise<void> {
  const { canisterId, proxy, sender } = names;
  const Variable = IDL.Record({ name: IDL.Text, value: IDL.Text });
  const Settings = IDL.Record({ environment_variables: IDL.Opt(IDL.Vec(Variable)) });
  const type = IDL.Record({ canister_id: IDL.Principal, settings: Settings });
  const variable = { name: 'PROXY_CANISTER_ID', value: proxy.toText() };
  const settings = { environment_variables: [[variable]] };
  const argument = IDL.encode([type], [{ canister_id: canisterId, settings }]);
  await replica.call('aaaaa-aa', 'update_settings', new Uint8Array(argument), { sender });
}
