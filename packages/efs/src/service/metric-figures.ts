// The figures of a service's canisters and of the buckets that the identity may see, as far as they
// answer: a canister that does not answer must not hide the others.

import type { CanisterCode, CanisterState } from '../../../client/src/actor/canister-code.ts';
import { createNodeServiceStorage, createNodeStorage } from '../../../client/src/node/storage.ts';
import { actorConnection } from '../../../client/src/storage.ts';
import type { BucketRecord } from '../../../client/src/types/buckets.ts';
import type { ServiceVolume } from '../../../client/src/types/service.ts';
import type { StorageIdentity } from '../../../client/src/types/storage-identity.ts';
import type { CanisterFigures } from '../../../wire/src/metrics/families.ts';

export interface FigureSource {
  readonly host: string;
  /** The front, or the only canister. */
  readonly canisterId: string;
  readonly hasFront: boolean;
  readonly identity: StorageIdentity;
}

/** Bounds the time and the size of an answer. */
const bucketsMax = 1_000;
/** Shorter than the time that Prometheus waits by default, 10 s. */
const timeoutMs = 8_000;
const once = { timeoutMs, retry: { attemptsMax: 1 } };
/** A state is read by an update, which the canister pays for. */
const stateMs = 600_000;

/** Returns a function that asks all canisters at once. */
export async function openFigures(source: FigureSource): Promise<() => Promise<CanisterFigures[]>> {
  const { host, canisterId: first, hasFront, identity } = source;
  const { openCanisterCode } = await import('../../../client/src/actor/canister-code.ts');
  const common = { host, identity, ...once };
  const code = await openCanisterCode(actorConnection({ ...common, canisterId: first }));
  const stateOf = rememberedStates(code);
  const service = hasFront ? createNodeServiceStorage({ ...common, front: first }) : undefined;
  let volumes: readonly ServiceVolume[] = [];

  async function figuresOf(
    role: CanisterFigures['role'],
    canisterId: string,
    volume?: ServiceVolume,
  ): Promise<CanisterFigures> {
    const storage = createNodeStorage({ ...common, canisterId });
    const noBuckets = { buckets: [], hasMoreBuckets: false };
    const [status, listed, certified] = await Promise.all([
      storage.status().catch(nothing),
      role === 'front' ? noBuckets : bucketsOf(storage.buckets.list()).catch(() => noBuckets),
      code.read(canisterId).catch(nothing),
    ]);
    const isController = certified?.controllers.includes(code.caller) === true;
    const state = isController ? await stateOf(canisterId) : undefined;
    return { canisterId, role, status, code: certified, state, volume, ...listed };
  }

  return async () => {
    if (service === undefined) return [await figuresOf('canister', first)];
    const front = figuresOf('front', first);
    // The volumes of the last answer, if the front does not answer
    volumes = await service.volumes.list().catch(() => volumes);
    const others = volumes.map((volume) => figuresOf('volume', volume.canisterId, volume));
    return Promise.all([front, ...others]);
  };
}

const nothing = () => undefined;

async function bucketsOf(
  list: AsyncIterable<BucketRecord>,
): Promise<Pick<CanisterFigures, 'buckets' | 'hasMoreBuckets'>> {
  const buckets: BucketRecord[] = [];
  for await (const bucket of list) {
    if (buckets.length === bucketsMax) return { buckets, hasMoreBuckets: true };
    buckets.push(bucket);
  }
  return { buckets, hasMoreBuckets: false };
}

interface RememberedState {
  readonly atMs: number;
  readonly state: CanisterState;
}

/** Reads a canister's state again after ten minutes, and after a failure. */
function rememberedStates(code: CanisterCode) {
  const states = new Map<string, RememberedState>();
  return async function stateOf(canisterId: string): Promise<CanisterState | undefined> {
    const known = states.get(canisterId);
    if (known !== undefined && Date.now() - known.atMs < stateMs) return known.state;
    const state = await code.state(canisterId).catch(nothing);
    if (state === undefined) states.delete(canisterId);
    else states.set(canisterId, { atMs: Date.now(), state });
    return state;
  };
}
