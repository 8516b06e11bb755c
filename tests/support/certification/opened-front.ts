// A front on a replica without a server: requests as a gateway sends them, and the official
// verifier's word on the answers.

import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import {
  type CanisterAnswer,
  decodeAnswer,
  encodeQueryRequest,
} from '../../../packages/replica/src/gateway/candid-messages.ts';
import { type Replica, startReplica } from '../../../packages/replica/src/replica.ts';
import { buildCanister } from '../../../scripts/build.ts';
import { newIdentity, principalOf } from '../../../scripts/local-service.ts';
import { type AskedRequest, type Verifying, verdictOn } from './verdict.ts';

export interface OpenedFront {
  readonly replica: Replica;
  readonly canisterId: Principal;
  /** The answer of a query. */
  ask(request: AskedRequest): Promise<CanisterAnswer>;
  /** Fails unless the verifier accepts the answer. */
  accepted(request: AskedRequest): Promise<CanisterAnswer>;
  /** Calls a method as the controller; fails where it is refused. */
  call(method: string, types: IDL.Type[], values: unknown[]): Promise<void>;
  upgrade(): Promise<void>;
  context(): Verifying;
}

const Outcome = IDL.Variant({ ok: IDL.Reserved, err: IDL.Text });

/** The argument of install and upgrade that names a role. */
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
  const context = () => ({
    canisterId,
    rootKey: replica.rootKey,
    nowNs: BigInt(Date.now()) * 1_000_000n,
  });
  async function ask({ method = 'GET', url, headers = [], body }: AskedRequest) {
    const sent = { method, url, headers, body: body ?? new Uint8Array(0) };
    const argument = encodeQueryRequest(sent);
    return decodeAnswer(await replica.query(canisterId, 'http_request', argument));
  }
  return {
    replica,
    canisterId,
    context,
    ask,
    async accepted(request) {
      const answer = await ask(request);
      const { refusal } = verdictOn(request, answer, context());
      if (refusal !== undefined) throw new Error(`${request.method} ${request.url}: ${refusal}`);
      return answer;
    },
    async call(method, types, values) {
      const argument = new Uint8Array(IDL.encode(types, values));
      const reply = await replica.call(canisterId, method, argument, { sender });
      const [outcome] = IDL.decode([Outcome], reply) as unknown as [{ err?: string }];
      if (outcome.err !== undefined) throw new Error(`${method}: ${outcome.err}`);
    },
    upgrade: () => replica.upgrade(canisterId, wasm, undefined, { sender }),
  };
}
