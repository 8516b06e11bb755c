// The service that the bench measures: a replica with the canister, requests by HTTP and by actor
// methods, and the meter's reading of each.

import { IDL } from '@dfinity/candid';
import { IDL as AgentIdl } from '@icp-sdk/core/candid';
import { methodTypes } from '../packages/client/src/actor/candid-interface.ts';
import { sessionRequestOf } from '../packages/client/src/actor/upload-requests.ts';
import type { MessageReport } from '../packages/replica/src/core.ts';
import { type Replica, startReplica } from '../packages/replica/src/replica.ts';
import {
  deployLocally,
  frontArgument,
  principalOf,
  type ServiceDescription,
} from '../scripts/local-service.ts';
import { measureRefusalRows } from './refusal-rows.ts';
import type { BenchRow } from './table.ts';

/** Requests by HTTP through the gateway. Each fails if the status is not the expected one. */
export interface HttpRequests {
  put(name: string, bytes: Uint8Array): Promise<unknown>;
  remove(name: string): Promise<unknown>;
  /** Posts a form with `count` files of these bytes in one folder. */
  putForm(folder: string, count: number, bytes: Uint8Array): Promise<unknown>;
  /** Deletes all files with this prefix. */
  removeAll(prefix: string): Promise<unknown>;
  get(name: string): Promise<unknown>;
  getPart(): Promise<unknown>;
  /** Reads from this byte to the end without a key, as a client that resumes a download does. */
  getRange(name: string, start: number): Promise<unknown>;
  /** Reads with the current ETag in If-None-Match; the answer is 304. */
  getUnchanged(name: string): Promise<unknown>;
  getMissing(): Promise<unknown>;
  /** Requests the path of a rule in `_redirects`. */
  getRedirect(path: string): Promise<unknown>;
  list(pageSize: number): Promise<unknown>;
  copy(from: string, to: string): Promise<unknown>;
  move(from: string, to: string): Promise<unknown>;
  /** Returns the address of a new link to the file. */
  link(name: string, bounds?: LinkBounds): Promise<string>;
  getLinked(address: string): Promise<unknown>;
  /** Sends the proof of a link's password. */
  openLink(address: string, proof: string, expected: 200 | 403): Promise<unknown>;
  /** Moves all files below the prefix to another one, in one update. */
  switchFiles(fromPrefix: string, toPrefix: string): Promise<unknown>;
  /** Changes the file's tags. */
  change(name: string): Promise<unknown>;
  /** Lists the names directly below that prefix. */
  listFolder(prefix: string): Promise<unknown>;
  usage(prefix: string): Promise<unknown>;
  /** Creates an upload by tus; returns its address. */
  createTusUpload(name: string, size: number): Promise<string>;
  patchTusUpload(address: string, offset: number, bytes: Uint8Array): Promise<unknown>;
}

interface LinkBounds {
  /** 64 hexadecimal digits. */
  readonly passwordProof?: string;
  readonly maxDownloads?: number;
}

export interface Bench extends HttpRequests {
  installRow(): BenchRow;
  /** Installs the same Wasm as a front. */
  frontRow(): Promise<BenchRow>;
  /** Upgrades to the same Wasm; afterwards the canister waits for its root key. */
  upgradeRow(): Promise<BenchRow>;
  measure(
    name: string,
    bytes: number,
    request: (turn: number) => Promise<unknown>,
  ): Promise<BenchRow>;
  /** Like `measure`, but reports the update when queries follow it. */
  measureUpdate: Bench['measure'];
  smallestQuery(): Promise<unknown>;
  /** Turns the bucket into a site. */
  makeSite(): Promise<unknown>;
  beginUpload(size: number, path?: string): Promise<string>;
  putChunk(uploadId: string, index: number, bytes: Uint8Array): Promise<unknown>;
  /** Sends a chunk of an upload of `size` bytes, in chunks of this length, with its request. */
  uploadChunk(size: number, index: number, bytes: Uint8Array): Promise<unknown>;
  completeUpload(uploadId: string): Promise<unknown>;
  /** Reads entries of the bucket's journal as its owner. */
  readJournal(sent: { after?: [bigint]; before?: [bigint]; limit?: [bigint] }): Promise<Uint8Array>;
  /** Reads blocks of the journal as a controller. */
  readBlocks(start: number, length: number): Promise<Uint8Array>;
  /** The most expensive refused message of each way to call. */
  refusalRows(): Promise<BenchRow[]>;
  close(): Promise<void>;
}

const partedPath = 'parted.bin';
const beginTypes = [IDL.Text, IDL.Text, IDL.Text, IDL.Nat, IDL.Opt(IDL.Text)];
const chunkTypes = [IDL.Text, IDL.Nat, IDL.Vec(IDL.Nat8)];
const TextResult = IDL.Variant({ ok: IDL.Text, err: IDL.Text });

export async function openBench(options: {
  readonly stateDir: string;
  readonly wasm: Uint8Array;
  readonly repetitions: number;
  readonly onPrint?: (canisterId: string, text: string) => void;
}): Promise<Bench> {
  const reports: MessageReport[] = [];
  const replica = await startReplica({
    stateDir: options.stateDir,
    onReport: (report) => reports.push(report),
    ...(options.onPrint && { onPrint: options.onPrint }),
  });
  const service = await deployLocally({ replica, ...options });
  const { canisterId, apiKey, bucket } = service;

  const call = (method: string, argument: Uint8Array) => replica.call(canisterId, method, argument);
  async function callForText(method: string, types: IDL.Type[], values: unknown[]) {
    const reply = await call(method, new Uint8Array(IDL.encode(types, values)));
    const [result] = IDL.decode([TextResult], reply) as unknown as [{ ok?: string; err?: string }];
    if (result.ok === undefined) throw new Error(`${method} answered ${result.err}`);
    return result.ok;
  }

  return {
    installRow: () => rowOf({ name: 'install', bytes: 0, milliseconds: [] }, reports, 'init'),
    async frontRow() {
      const started = performance.now();
      const front = await replica.createCanister({ controllers: [] });
      await replica.install(front, options.wasm, frontArgument);
      const row = { name: 'install of a front', bytes: 0 };
      const milliseconds = [performance.now() - started];
      return rowOf({ ...row, milliseconds }, reports, 'init');
    },
    async upgradeRow() {
      const started = performance.now();
      await replica.upgrade(canisterId, repacked(options.wasm));
      const milliseconds = [performance.now() - started];
      return rowOf({ name: 'upgrade', bytes: 0, milliseconds }, reports, 'postUpgrade');
    },
    async measure(name, bytes, request) {
      const first = reports.length;
      const milliseconds = await repeated(options.repetitions, request);
      return rowOf({ name, bytes, milliseconds }, reports.slice(first));
    },
    async measureUpdate(name, bytes, request) {
      const first = reports.length;
      const milliseconds = await repeated(options.repetitions, request);
      return rowOf({ name, bytes, milliseconds }, reports.slice(first), 'update');
    },
    makeSite: () => makeSite(replica, service),
    ...journalReads(replica, service),
    smallestQuery: () => replica.query(canisterId, 'getUpload', IDL.encode([IDL.Text], [''])),
    ...httpRequests(service),
    beginUpload: (size, path = partedPath) =>
      callForText('beginFileUpload', beginTypes, [
        bucket,
        path,
        'application/octet-stream',
        BigInt(size),
        [apiKey],
      ]),
    putChunk: (...sent) => call('uploadFileChunkIndexed', indexedChunkArgument(...sent)),
    uploadChunk: (size, index, bytes) =>
      call('uploadChunk', chunkArgument(service, size, { index, bytes })),
    completeUpload: (uploadId) =>
      callForText('completeFileUpload', [IDL.Text, IDL.Opt(IDL.Text)], [uploadId, []]),
    refusalRows: () => measureRefusalRows({ replica, service, reports }),
    close: () => replica.stop(),
  };
}

function indexedChunkArgument(uploadId: string, index: number, bytes: Uint8Array): Uint8Array {
  return new Uint8Array(IDL.encode(chunkTypes, [uploadId, BigInt(index), bytes]));
}

function chunkArgument(
  service: ServiceDescription,
  size: number,
  { index, bytes }: { readonly index: number; readonly bytes: Uint8Array },
): Uint8Array {
  const { bucket } = service;
  const request = sessionRequestOf(service, {
    ...{ bucket, path: 'one-round.bin', contentType: 'application/octet-stream', tags: [] },
    ...{ headers: {}, metadata: {}, sha256: undefined, ifMatch: undefined },
    ...{ ifNoneMatch: undefined, size, chunkBytes: bytes.length, token: 'bench' },
  });
  const { argTypes } = methodTypes('uploadChunk');
  return AgentIdl.encode(argTypes, [request, BigInt(index), [], bytes]);
}

function makeSite(replica: Replica, { canisterId, bucket, identityPem }: ServiceDescription) {
  const Change = IDL.Record({ bucketId: IDL.Text, isSite: IDL.Opt(IDL.Bool) });
  const argument = new Uint8Array(IDL.encode([Change], [{ bucketId: bucket, isSite: [true] }]));
  return replica.call(canisterId, 'updateBucket', argument, { sender: principalOf(identityPem) });
}

function journalReads(
  replica: Replica,
  { canisterId, bucket, identityPem }: ServiceDescription,
): Pick<Bench, 'readJournal' | 'readBlocks'> {
  const owner = { sender: principalOf(identityPem) };
  const ask = (method: string, argument: unknown) => {
    const { argTypes } = methodTypes(method);
    return replica.query(canisterId, method, AgentIdl.encode(argTypes, [argument]), owner);
  };
  return {
    readJournal: (sent) =>
      ask('readJournal', {
        bucketId: bucket,
        apiKey: [],
        before: [],
        after: [],
        limit: [],
        ...sent,
      }),
    readBlocks: (start, length) => ask('icrc3_get_blocks', [{ start, length }]),
  };
}

function httpRequests({ url, apiKey, bucket }: ServiceDescription): HttpRequests {
  const ofBucket = `${url}/api/v1/bucket/${bucket}`;
  const api = `${ofBucket}/files`;
  const cloud = `${url}/cloud/${bucket}`;
  const authorization = { Authorization: `Bearer ${apiKey}` };
  const post = (operation: string, body: object) =>
    send(`${url}/api/v1/bucket/${bucket}/${operation}`, {
      method: 'POST',
      headers: authorization,
      body: JSON.stringify(body),
    });
  return {
    put: (name, body) =>
      send(`${api}/${name}`, {
        method: 'PUT',
        body: body as BodyInit,
        headers: { ...authorization, 'Content-Type': 'application/octet-stream' },
      }),
    remove: (name) => send(`${api}/${name}`, { method: 'DELETE', headers: authorization }),
    putForm: (folder, count, bytes) => {
      const body = new FormData();
      for (let index = 0; index < count; index++) {
        body.append(`${folder}/${index}.bin`, new Blob([bytes as BlobPart]));
      }
      return send(api, { method: 'POST', body, headers: authorization });
    },
    removeAll: (prefix) => {
      const body = JSON.stringify({ prefix });
      return send(`${ofBucket}/delete`, { method: 'POST', body, headers: authorization });
    },
    get: (name) => send(`${cloud}/${name}`, {}),
    getPart: () => {
      const headers = { Range: 'bytes=0-', Prefer: 'part' };
      return send(`${cloud}/${partedPath}`, { headers });
    },
    getRange: (name, start) => send(`${cloud}/${name}`, { headers: { Range: `bytes=${start}-` } }),
    async getUnchanged(name) {
      const { headers } = await send(`${cloud}/${name}`, { method: 'HEAD' });
      const etag = headers.get('etag') ?? '';
      return send(`${cloud}/${name}`, { headers: { 'If-None-Match': etag }, expected: 304 });
    },
    getMissing: () => send(`${cloud}/not/there.txt`, { expected: 404 }),
    getRedirect: (path) => send(`${cloud}/${path}`, { redirect: 'manual', expected: 301 }),
    list: (pageSize) => send(`${api}?pageSize=${pageSize}`, { headers: authorization }),
    copy: (from, path) => post('copy', { from, to: { path } }),
    move: (from, path) => post('move', { from, to: { path } }),
    async link(path, bounds) {
      const response = await post('links', { path, ...bounds });
      return ((await response.json()) as { url: string }).url;
    },
    getLinked: (address) => send(`${url}${address}`, {}),
    openLink: (address, proof, expected) => {
      const [path] = address.split('?', 1);
      return send(`${url}${path}`, { method: 'POST', body: JSON.stringify({ proof }), expected });
    },
    switchFiles: (fromPrefix, toPrefix) => post('switch', { fromPrefix, toPrefix }),
    change: (name) =>
      send(`${api}/${name}`, {
        method: 'PATCH',
        headers: authorization,
        body: JSON.stringify({ tags: ['bench'] }),
      }),
    listFolder: (prefix) => send(`${api}?delimiter=/&prefix=${prefix}`, { headers: authorization }),
    usage: (prefix) => send(`${ofBucket}/usage?prefix=${prefix}`, { headers: authorization }),
    ...tusRequests(`${url}/api/v1/tus/${bucket}`, authorization),
  };
}

function tusRequests(
  endpoint: string,
  authorization: object,
): Pick<HttpRequests, 'createTusUpload' | 'patchTusUpload'> {
  const fields = { ...authorization, 'Tus-Resumable': '1.0.0' };
  return {
    async createTusUpload(name, size) {
      const metadata = `path ${Buffer.from(name).toString('base64')}`;
      const headers = { ...fields, 'Upload-Length': String(size), 'Upload-Metadata': metadata };
      const created = await send(endpoint, { method: 'POST', headers });
      return new URL(created.headers.get('location') ?? '', endpoint).href;
    },
    patchTusUpload: (address, offset, bytes) =>
      send(address, {
        method: 'PATCH',
        body: bytes as BodyInit,
        headers: {
          ...fields,
          'Content-Type': 'application/offset+octet-stream',
          'Upload-Offset': String(offset),
        },
      }),
  };
}

interface Wish extends RequestInit {
  /** The expected status; any status below 400 if absent. */
  readonly expected?: number;
}

async function send(url: string, { expected, ...init }: Wish): Promise<Response> {
  const response = await fetch(url, init);
  const body = await response.clone().arrayBuffer();
  const isExpected = expected === undefined ? response.ok : response.status === expected;
  if (!isExpected) {
    throw new Error(`${url} answered ${response.status}: ${Buffer.from(body).toString()}`);
  }
  return response;
}

/** Returns the milliseconds of each turn. */
async function repeated(
  turns: number,
  request: (turn: number) => Promise<unknown>,
): Promise<number[]> {
  const milliseconds: number[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const started = performance.now();
    await request(turn);
    milliseconds.push(performance.now() - started);
  }
  return milliseconds;
}

/** Uses the last report of that kind; without `kind`, that of the last update or query. */
function rowOf(
  request: { readonly name: string; readonly bytes: number; readonly milliseconds: number[] },
  reports: readonly MessageReport[],
  kind?: MessageReport['kind'],
): BenchRow {
  const { name, bytes, milliseconds } = request;
  const last = reports.findLast((report) =>
    kind === undefined ? ['update', 'query'].includes(report.kind) : report.kind === kind,
  );
  if (last === undefined || last.error !== undefined) {
    throw new Error(`${name}: no message was executed, or it failed: ${last?.error ?? ''}`);
  }
  const sorted = milliseconds.toSorted((left, right) => left - right);
  return {
    name,
    bytes,
    instructions: Number(last.instructions),
    cycles: Number(last.cycles),
    milliseconds: sorted[Math.floor(sorted.length / 2)] ?? last.milliseconds,
  };
}

/** Returns the same code with another hash, as a new version has: RFC 1952 §2.3.1, MTIME. */
function repacked(gzip: Uint8Array): Uint8Array {
  const changed = Uint8Array.from(gzip);
  changed[4] = (changed[4] ?? 0) ^ 1;
  return changed;
}
