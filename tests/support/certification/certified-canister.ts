// The canister with the bucket `demo` on a network of its own: sends requests as a gateway does, and
// verifies the canister's answers with the official verifier.

import { readFile } from 'node:fs/promises';
import { IDL } from '@dfinity/candid';
import {
  type CanisterAnswer,
  decodeAnswer,
  encodeUpdateRequest,
} from '../../../packages/replica/src/gateway/candid-messages.ts';
import { buildCanister } from '../../../scripts/build.ts';
import { settings } from '../key-network.ts';
import { openTestNetwork, type TestNetwork } from '../network/test-network.ts';
import { keyFor, personOf } from '../people.ts';
import { type AskedCanister, askedOn, whole } from './asked-canister.ts';
import type { AskedRequest, Field } from './verdict.ts';

export interface CertifiedCanister
  extends AskedCanister,
    Pick<TestNetwork, 'network' | 'replica' | 'stop'> {
  readonly canisterId: string;
  /** Sends an update with the API key and returns the answer; fails if it is refused. */
  change(request: AskedRequest): Promise<CanisterAnswer>;
  /** Stores a file of one part in the bucket `demo`. */
  put(path: string, body: Uint8Array, headers?: readonly Field[]): Promise<void>;
  /** Stores a file of several parts. */
  putParts(path: string, parts: readonly Uint8Array[]): Promise<void>;
  remove(path: string): Promise<void>;
  /** Creates a bucket as the owner. */
  createBucket(id: string): Promise<void>;
  showBucket(id: string, isPublic: boolean): Promise<void>;
  /** Also sets the fields of updateBucket that could be omitted. */
  setSite(id: string, isSite: boolean): Promise<void>;
  /** Keeps former versions. */
  keepVersions(id: string): Promise<void>;
  /** Makes an empty bucket end-to-end. */
  makeEndToEnd(id: string): Promise<void>;
  /** Wraps the keys of the bucket's files again. */
  rotateKey(id: string): Promise<void>;
  move(from: string, to: string): Promise<void>;
  /** Stores a text below /.well-known; without `body` removes it. */
  setWellKnown(name: string, body?: string): Promise<void>;
  upgrade(): Promise<void>;
  readonly apiKey: string;
}

const cycles = 10n ** 15n;
const partBytesMin = 65_536;
const texts = IDL.Opt(IDL.Vec(IDL.Text));

export async function openCertifiedCanister(): Promise<CertifiedCanister> {
  const { wasmPath } = await buildCanister({ force: false });
  const wasm = new Uint8Array(await readFile(wasmPath));
  const opened = await openTestNetwork();
  const { network, replica, stop } = opened;
  const canisterId = await network.create(cycles);
  await network.install(canisterId, wasm, settings({ stored: null }));
  const owner = personOf({ ...opened, canisterId }, 'owner');
  await owner.get('createBucket', 'demo', [{ isPublic: [true] }]);
  const key = keyFor(['demo'], ['read', 'write', 'delete']);
  const { secret: apiKey } = await owner.get<{ secret: string }>('createApiKey', key);
  const asked = askedOn(opened, canisterId);
  const { call } = asked;

  async function change(request: AskedRequest): Promise<CanisterAnswer> {
    const { headers = [] } = request;
    const authorized: Field[] = [...headers, ['authorization', `Bearer ${apiKey}`]];
    const argument = encodeUpdateRequest(whole({ ...request, headers: authorized }));
    const reply = await network.call(canisterId, 'http_request_update', argument);
    const answer = decodeAnswer(reply);
    if (answer.status >= 400) throw new Error(Buffer.from(answer.body).toString());
    return answer;
  }

  const files = (path: string) => `/api/v1/bucket/demo/files/${path}`;
  const uploads = '/api/v1/bucket/demo/upload';
  return {
    ...{ network, replica, stop },
    canisterId,
    apiKey,
    ...asked,
    change,
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
    keepVersions: (id) => {
      const Change = IDL.Record({ bucketId: IDL.Text, keepVersionsDays: IDL.Opt(IDL.Nat) });
      return call('updateBucket', [Change], [{ bucketId: id, keepVersionsDays: [9n] }]);
    },
    makeEndToEnd: (id) => {
      const recipients = [`age1${'q'.repeat(58)}`];
      const Options = IDL.Record({ usesVetKeys: IDL.Opt(IDL.Bool), recipients: texts });
      const Change = IDL.Record({ bucketId: IDL.Text, endToEnd: IDL.Opt(Options) });
      const endToEnd = { usesVetKeys: [false], recipients: [recipients] };
      return call('updateBucket', [Change], [{ bucketId: id, endToEnd: [endToEnd] }]);
    },
    rotateKey: (id) => call('rotateBucketKey', [IDL.Text], [id]),
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
    upgrade: () => network.upgrade(canisterId, wasm),
  };
}
