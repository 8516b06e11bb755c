// Calls of the owner of the bucket `photos` for its subscriptions.

import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import { createInProcessCalls } from '../../packages/replica/src/in-process-calls.ts';
import {
  ResultSubscription,
  ResultSubscriptions,
  SubscriptionChange,
  SubscriptionRequest,
} from '../../src/actor/candid/subscriptions.ts';
import { ResultNull } from '../../src/actor/candid/types.ts';
import { type KeyNetwork, owner } from './key-network.ts';

export interface SubscriptionView {
  readonly id: bigint;
  readonly cursor: bigint;
  readonly prefix: [] | [string];
  readonly kinds: readonly string[];
  readonly failingSince: [] | [bigint];
  readonly error: [] | [string];
  readonly pausedAt: [] | [bigint];
  readonly waitsUntil: [] | [bigint];
  readonly cyclesToday: bigint;
}

const Upload = IDL.Record({
  bucketId: IDL.Text,
  path: IDL.Text,
  contentType: IDL.Text,
  bytes: IDL.Vec(IDL.Nat8),
});

export class Subscriptions {
  readonly #network: KeyNetwork;
  readonly #sender: Principal;

  constructor(network: KeyNetwork, sender = owner) {
    this.#network = network;
    this.#sender = sender;
  }

  async #call<T>(method: string, types: IDL.Type[], values: unknown[], result: IDL.Type) {
    const calls = createInProcessCalls(this.#network.engine);
    const send = method.startsWith('list') ? calls.query : calls.call;
    const argument = new Uint8Array(IDL.encode(types, values));
    const id = this.#network.canisterId();
    const reply = await send(id, method, argument, { sender: this.#sender });
    const [{ ok, err }] = IDL.decode([result], reply) as unknown as [{ ok: T; err?: string }];
    if (err !== undefined) throw new Error(err);
    return ok;
  }

  add(
    canister: Principal,
    fields: { prefix?: string; kinds?: string[]; after?: bigint; method?: string } = {},
  ): Promise<SubscriptionView> {
    const { prefix, kinds, after, method = 'efs_events' } = fields;
    const request = {
      bucketId: 'photos',
      canister,
      method,
      prefix: prefix === undefined ? [] : [prefix],
      kinds: kinds === undefined ? [] : [kinds],
      after: after === undefined ? [] : [after],
    };
    return this.#call('addSubscription', [SubscriptionRequest], [request], ResultSubscription);
  }

  list(): Promise<SubscriptionView[]> {
    return this.#call('listSubscriptions', [IDL.Text], ['photos'], ResultSubscriptions);
  }

  async only(): Promise<SubscriptionView> {
    const [first] = await this.list();
    if (first === undefined) throw new Error('The bucket has no subscription');
    return first;
  }

  change(
    id: bigint,
    { isPaused, prefix }: { isPaused?: boolean; prefix?: string },
  ): Promise<SubscriptionView> {
    const change = {
      bucketId: 'photos',
      id,
      kinds: [],
      prefix: prefix === undefined ? [] : [prefix],
      isPaused: isPaused === undefined ? [] : [isPaused],
    };
    return this.#call('updateSubscription', [SubscriptionChange], [change], ResultSubscription);
  }

  async remove(id: bigint): Promise<void> {
    await this.#call('removeSubscription', [IDL.Text, IDL.Nat], ['photos', id], ResultNull);
  }

  async put(path: string): Promise<void> {
    const file = { bucketId: 'photos', path, contentType: 'text/plain', bytes: [1] };
    await this.#network.send('uploadFile', [Upload], [file]);
  }
}
