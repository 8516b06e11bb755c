// The canister on a replica without a server: requests as a gateway sends them, the canister's own
// answers, and the official verifier's word on them.

import { readFile } from 'node:fs/promises';
import { IDL } from '@dfinity/candid';
import {
  type CanisterAnswer,
  decodeAnswer,
  encodeQueryRequest,
  encodeUpdateRequest,
} from '../../../packages/replica/src/gateway/candid-messages.ts';
import { type Replica, startReplica } from '../../../packages/replica/src/replica.ts';
import { buildCanister } from '../../../scripts/build.ts';
import { createDemoKey, newIdentity, principalOf } from '../../../scripts/local-service.ts';
import { settings } from '../key-network.ts';
import { type AskedRequest, type Field, type Verifying, verdictOn } from './verdict.ts';

export interface CertifiedCanister {
  readonly replica: Replica;
  readonly canisterId: string;
  /** Returns the answer of a query. */
  ask(request: AskedRequest): Promise<CanisterAnswer>;
  /** Returns the answer of an update with the API key; fails if it is refused. */
  change(request: AskedRequest): Promise<CanisterAnswer>;
  /** A file of one part in the bucket `demo`. */
  put(path: string, body: Uint8Array, headers?: readonly Field[]): Promise<void>;
  /** One of several parts. */
  putParts(path: string, parts: readonly Uint8Array[]): Promise<void>;
  remove(path: string): Promise<void>;
  /** As the owner, with text arguments or one record. */
  createBucket(id: string): Promise<void>;
  showBucket(id: string, isPublic: boolean): Promise<void>;
  /** In the place of what updateBucket would leave. */
  setSite(id: string, isSite: boolean): Promise<void>;
  move(from: string, to: string): Promise<void>;
  /** Calls a method as the owner; fails where it is refused. */
  call(method: string, types: IDL.Type[], values: unknown[]): Promise<void>;
  /** Without a body the text goes. */
  setWellKnown(name: string, body?: string): Promise<void>;
  upgrade(): Promise<void>;
  readonly apiKey: string;
  context(): Verifying;
  /** Fails unless the verifier accepts. */
  accepted(request: AskedRequest): Promise<CanisterAnswer>;
}

const partBytesMin = 65_536;
const Outcome = IDL.Variant({ ok: IDL.Reserved, err: IDL.Text });

export async function openCertifiedCanister(): Promise<CertifiedCanister> {
  const { wasmPath } = await buildCanister({ force: false });
  const wasm = new Uint8Array(await readFile(wasmPath));
  const replica = await startReplica({ server: false });
  const identity = newIdentity();
  const sender = principalOf(identity);
  const created = await replica.createCanister({ controllers: [sender] });
  const canisterId = created.toText();
  await replica.install(canisterId, wasm, settings({ stored: null }));
  const apiKey = await createDemoKey(replica, canisterId, identity);
  const context = () => ({
    canisterId: created,
    rootKey: replica.rootKey,
    nowNs: BigInt(Date.now()) * 1_000_000n,
  });

  async function call(method: string, types: IDL.Type[], values: unknown[]): Promise<void> {
    const argument = IDL.encode(types, values);
    const reply = await replica.call(canisterId, method, argument, { sender });
    const [outcome] = IDL.decode([Outcome], reply) as unknown as [{ err?: string }];
    if (outcome.err !== undefined) throw new Error(`${method}: ${outcome.err}`);
  }

  async function ask(request: AskedRequest): Promise<CanisterAnswer> {
    const argument = encodeQueryRequest(whole(request));
    return decodeAnswer(await replica.query(canisterId, 'http_request', argument));
  }

  async function change(request: AskedRequest): Promise<CanisterAnswer> {
    const { headers = [] } = request;
    const authorized: Field[] = [...headers, ['authorization', `Bearer ${apiKey}`]];
    const argument = encodeUpdateRequest(whole({ ...request, headers: authorized }));
    const reply = await replica.call(canisterId, 'http_request_update', argument);
    const answer = decodeAnswer(reply);
    if (answer.status >= 400) throw new Error(Buffer.from(answer.body).toString());
    return answer;
  }

  const files = (path: string) => `/api/v1/bucket/demo/files/${path}`;
  const uploads = '/api/v1/bucket/demo/upload';
  return {
    replica,
    canisterId,
    apiKey,
    ask,
    call,
    change,
    context,
    async put(path, body, headers = [['content-type', 'text/plain']]) {
      await change({ method: 'PUT', url: files(path), body, headers });
    },
    async putParts(path, parts) {
      const size = parts.reduce((sum, { length }) => sum + length, 0);
      const chunkSize = Math.max(partBytesMin, parts[0]?.length ?? 0);
      const body = Buffer.from(JSON.stringify({ path, size, chunkSize, contentType: 'a/b' }));
      const started = await change({ method: 'POST', url: `${uploads}/start`, body });
      const { sessionId } = JSON.parse(Buffer.from(started.body).toString());
      for (const [index, part] of parts.entries()) {
        await change({ method: 'PUT', url: `${uploads}/${sessionId}/chunk/${index}`, body: part });
      }
      await change({ method: 'POST', url: `${uploads}/${sessionId}/complete` });
    },
    async remove(path) {
      await change({ method: 'DELETE', url: files(path) });
    },
    createBucket: (id) => {
      const Options = IDL.Opt(IDL.Record({ isPublic: IDL.Opt(IDL.Bool) }));
      return call('createBucket', [IDL.Text, Options], [id, [{ isPublic: [true] }]]);
    },
    showBucket: (id, isPublic) => {
      const Change = IDL.Record({ bucketId: IDL.Text, isPublic: IDL.Opt(IDL.Bool) });
      return call('updateBucket', [Change], [{ bucketId: id, isPublic: [isPublic] }]);
    },
    setSite: (id, isSite) => {
      const Change = IDL.Record({ bucketId: IDL.Text, isSite: IDL.Opt(IDL.Bool) });
      return call('updateBucket', [Change], [{ bucketId: id, isSite: [isSite] }]);
    },
    async move(from, to) {
      const body = Buffer.from(JSON.stringify({ from, to: { path: to } }));
      await change({ method: 'POST', url: '/api/v1/bucket/demo/move', body });
    },
    setWellKnown: (name, body) => {
      const Content = IDL.Record({ body: IDL.Text });
      const Change = IDL.Record({ name: IDL.Text, content: IDL.Opt(Content) });
      return call(
        'setWellKnown',
        [Change],
        [{ name, content: body === undefined ? [] : [{ body }] }],
      );
    },
    upgrade: () => replica.upgrade(canisterId, wasm, undefined, { sender }),
    async accepted(request) {
      const answer = await ask(request);
      if (answer.isUpgrade) throw new Error(`${request.url}: the answer is to upgrade`);
      const { refusal } = verdictOn(request, answer, context());
      if (refusal !== undefined) throw new Error(refusal);
      return answer;
    },
  };
}

function whole(request: AskedRequest) {
  const { method = 'GET', url, headers = [], body = new Uint8Array(0) } = request;
  return { method, url, headers, body };
}
