// A small engine for tests of the endpoints: one canister whose methods are named after their
// behaviour. Counts updates.

import { Principal } from '@dfinity/principal';
import type {
  CallMessage,
  CanisterView,
  Engine,
  Outcome,
} from '../../../packages/replica/src/core.ts';

export const canisterId = Principal.fromHex('00000000000000010101');
const controller = Principal.selfAuthenticating(Buffer.from('some controller'));

export interface PlainEngine extends Engine {
  nowNs: bigint;
  controllers: Principal[];
  certifiedData: Uint8Array;
  readonly updates: CallMessage[];
  /** Completes the calls of `wait`. */
  release(): void;
}

const section = (isPublic: boolean, text: string) => ({ isPublic, content: Buffer.from(text) });

export function createPlainEngine(): PlainEngine {
  const updates: CallMessage[] = [];
  let waiting: (() => void)[] = [];
  const engine: PlainEngine = {
    nowNs: BigInt(Date.now()) * 1_000_000n,
    controllers: [controller],
    certifiedData: new Uint8Array(32),
    updates,
    now: () => engine.nowNs,
    canister: (id) => (id.compareTo(canisterId) === 'eq' ? view(engine) : undefined),
    canisters: () => [view(engine)],
    checkIngress: async ({ method }) =>
      method === 'refused'
        ? { status: 'rejected', code: 4, message: 'not this one', errorCode: 'IC0406' }
        : undefined,
    async update(message) {
      updates.push(message);
      if (message.method === 'wait') await new Promise<void>((resolve) => waiting.push(resolve));
      return answer(message);
    },
    query: async (message) => answer(message),
    release() {
      for (const resolve of waiting) resolve();
      waiting = [];
    },
  };
  return engine;
}

function answer(message: CallMessage): Outcome {
  if (message.method === 'throw') throw new Error('engine fault');
  if (message.method === 'trap') {
    return { status: 'rejected', code: 5, message: 'it trapped', errorCode: 'IC0503' };
  }
  if (message.method === 'caller') return { status: 'replied', arg: message.sender.toUint8Array() };
  return { status: 'replied', arg: message.arg };
}

function view(engine: PlainEngine): CanisterView {
  return {
    id: canisterId,
    controllers: engine.controllers,
    status: 'running',
    moduleHash: new Uint8Array(32).fill(1),
    certifiedData: engine.certifiedData,
    version: 1n,
    cycles: 0n,
    heapBytes: 0,
    stableBytes: 0,
    metadata: new Map([
      ['candid:service', section(true, 'service : {}')],
      ['private', section(false, 'for controllers only')],
    ]),
  };
}
