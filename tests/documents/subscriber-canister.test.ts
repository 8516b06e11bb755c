// The subscriber of docs/how-to/events-to-a-canister.md runs as the page shows it.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { expect, test } from 'vitest';
import { createInProcessCalls } from '../../packages/replica/src/in-process-calls.ts';
import { owner } from '../support/key-network.ts';
import { networkWithStoredKey } from '../support/lost-timers.ts';
import { Subscriptions } from '../support/subscriptions.ts';
import { buildAzle } from '../support/wasm-canisters/azle-project.ts';
import { readPages } from './support/pages.ts';

test('the subscriber of events-to-a-canister.md receives changes of its service only', async () => {
  const page = readPages().find(({ path }) => path === 'docs/how-to/events-to-a-canister.md');
  const sources = page?.blocks.filter(({ isCanister }) => isCanister) ?? [];
  expect(sources).toHaveLength(1);
  const wasm = await buildAzle(sources[0]?.text ?? '');
  const network = await networkWithStoredKey();
  const subscriptions = new Subscriptions(network);
  const calls = createInProcessCalls(network.engine);
  const id = await calls.createCanister({ controllers: [owner] });
  await calls.install(id, wasm, undefined, { sender: owner });
  const list = async () => IDL.decode([IDL.Vec(IDL.Text)], await calls.query(id, 'list'))[0];
  const trust = (sender: Principal) => {
    const argument = new Uint8Array(IDL.encode([IDL.Principal], [network.canisterId()]));
    return calls.call(id, 'trust', argument, { sender });
  };
  await subscriptions.add(id);
  await subscriptions.put('a/1');
  await network.wait(0);
  expect((await subscriptions.only()).error[0]).toContain('Not the service');
  expect(await list()).toEqual([]);
  const stranger = Principal.selfAuthenticating(new Uint8Array(44));
  await expect(trust(stranger)).rejects.toThrow('Only a controller');
  await trust(owner);
  for (let turn = 0; turn < 3; turn++) await network.wait(6);
  await subscriptions.put('a/2');
  await network.wait(0);
  expect(await list()).toEqual(['file.stored photos/a/1', 'file.stored photos/a/2']);
  expect(await subscriptions.only()).toMatchObject({ failingSince: [], error: [] });
});
