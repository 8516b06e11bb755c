// The S3 server: authenticates a request, waits for capacity, executes it and answers. The only
// state that outlives a restart is that of multipart uploads, on the disk.

import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createBufferPool } from '../../client/src/bytes/buffer-pool.ts';
import type { Account } from './account.ts';
import { AdmissionLimits } from './admission.ts';
import { openBody } from './body/open-body.ts';
import type { MemoryBudget } from './chunk-source.ts';
import { type CorsOrigins, preflightAnswer, setCorsHeaders } from './cors.ts';
import { piecesOf } from './incoming.ts';
import { type MultipartOptions, MultipartUploads } from './multipart/multipart-uploads.ts';
import type { Operation } from './operation.ts';
import { RecentRanges } from './recent-ranges.ts';
import { RecordReads } from './record-reads.ts';
import { readRequest } from './request.ts';
import { routeOf } from './routes.ts';
import { S3Error } from './s3-error.ts';
import { Semaphore } from './semaphore.ts';
import type { Header, SignedRequest } from './signature/signed-request.ts';
import { authenticate, type Credential, type Credentials } from './signature/verify.ts';
import { SmallGets } from './small-gets.ts';
import { SmallPuts } from './small-puts.ts';
import { s3ErrorOf } from './storage-errors.ts';
import { errorAnswer, writeAnswer } from './write-answer.ts';

export interface S3ServerOptions {
  readonly credentials: Credentials;
  /** Opens the caller's account; without a credential, one that only reads public files. */
  readonly openAccount: (credential: Credential | undefined) => Promise<Account>;
  /** Differs after a change of what `openAccount` reads, so that accounts are opened again. */
  readonly accountsStamp?: (() => string) | undefined;
  /** The folder and limits of multipart uploads. */
  readonly multipart: MultipartOptions;
  readonly isReadOnly?: boolean | undefined;
  /** Buckets are also hosts below this domain: `photos.localhost` for `localhost`. */
  readonly domain?: string | undefined;
  /** Origins whose pages may send requests and read answers; `*` for all. By default none. */
  readonly corsOrigins?: CorsOrigins | undefined;
  /** Called with a line without secrets after each request, and for each unusable file. */
  readonly log?: ((line: string) => void) | undefined;
}

export interface S3Server {
  readonly server: Server;
  /** Gives running requests a few seconds to end. */
  close(): Promise<void>;
}

/** Maximum number of chunks in transfer, for all uploads and for all downloads. */
const sendingMax = 4;
const receivingMax = 2;
const connectionsMax = 512;
const headersMsMax = 20_000;
const closeMsMax = 5_000;

export function createS3Server(options: S3ServerOptions): S3Server {
  const receiving = new Semaphore(receivingMax, Number.POSITIVE_INFINITY);
  const state: ServerState = {
    options,
    accounts: new Map(),
    accountsStamp: '',
    admissions: new AdmissionLimits(),
    memory: {
      buffers: createBufferPool(),
      sending: new Semaphore(sendingMax, Number.POSITIVE_INFINITY),
      receiving,
    },
    smallPuts: new SmallPuts(),
    smallGets: new SmallGets(receiving),
    records: new RecordReads(),
    ranges: new RecentRanges(),
    multipart: new MultipartUploads(options.multipart, options.log),
  };
  const server = createServer({ headersTimeout: headersMsMax, requestTimeout: 0 });
  server.maxConnections = connectionsMax;
  server.keepAliveTimeout = 30_000;
  server.on('request', (request, response) => void serve(state, request, response));
  // A request is refused before its body is sent.
  server.on('checkContinue', (request, response) => void serve(state, request, response));
  // S3 ignores other expectations; Node would answer 417.
  server.on('checkExpectation', (request, response) => void serve(state, request, response));
  return {
    server,
    close: () =>
      new Promise((resolve) => {
        const timer = setTimeout(() => server.closeAllConnections(), closeMsMax);
        server.close(() => {
          clearTimeout(timer);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}

interface ServerState {
  readonly options: S3ServerOptions;
  /** Accounts by access key; each is opened once for a stamp. */
  readonly accounts: Map<string, Promise<Account>>;
  accountsStamp: string;
  readonly admissions: AdmissionLimits;
  readonly memory: MemoryBudget;
  readonly smallPuts: SmallPuts;
  readonly smallGets: SmallGets;
  readonly records: RecordReads;
  readonly ranges: RecentRanges;
  readonly multipart: MultipartUploads;
}

/** Never rejects. */
async function serve(
  state: ServerState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const startMs = performance.now();
  const controller = new AbortController();
  response.on('close', () => {
    if (!response.writableFinished)
      controller.abort(new Error('The client has closed the connection.'));
  });
  const requestId = randomBytes(8).toString('hex').toUpperCase();
  response.setHeader('x-amz-request-id', requestId);
  setCorsHeaders(request, response, state.options.corsOrigins ?? []);
  const { rawPath } = signedRequestOf(request);
  let fault: S3Error | undefined;
  try {
    await carryOut(state, { request, response, signal: controller.signal });
  } catch (error) {
    fault = s3ErrorOf(error);
    if (!response.headersSent && !response.destroyed) {
      if (!request.complete) response.setHeader('Connection', 'close');
      await writeAnswer(response, errorAnswer(fault, rawPath, requestId)).catch(() => {});
    }
  }
  endUnread(request);
  const ms = Math.round(performance.now() - startMs);
  const isGone = controller.signal.aborted;
  const status = isGone ? 'gone' : response.statusCode;
  const why = fault === undefined || isGone ? '' : ` ${wordsOf(fault)}`;
  state.options.log?.(`${request.method} ${printable(rawPath)} ${status} ${ms} ms${why}`);
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly signal: AbortSignal;
}

async function carryOut(
  state: ServerState,
  { request, response, signal }: Exchange,
): Promise<void> {
  const { options } = state;
  const { corsOrigins = [] } = options;
  if (request.method === 'OPTIONS') {
    await writeAnswer(response, preflightAnswer(request, corsOrigins));
    return;
  }
  const signed = signedRequestOf(request);
  const { caller, payload, headers } = await authenticate(signed, options.credentials, new Date());
  const read = readRequest({ ...signed, headers }, options.domain);
  const route = routeOf(read);
  const isAnonymous = caller.credential === undefined;
  if (route.isChange && (options.isReadOnly || isAnonymous)) {
    const reason = isAnonymous
      ? 'Requests without a signature only read.'
      : 'This S3 server is read-only.';
    throw new S3Error('AccessDenied', reason);
  }
  const { accessKeyId } = caller;
  const admission = await state.admissions.enter({ route, accessKeyId, signal });
  const { enterTransfers } = admission;
  try {
    const operation: Operation = {
      request: read,
      account: await accountOf(state, caller.credential),
      accessKeyId: accessKeyId ?? '',
      isSigned: !isAnonymous,
      openBody: () =>
        openBody(
          { ...signed, headers },
          piecesOf(request, { begin, place: admission.place() }),
          payload,
        ),
      signal,
      concurrency: route.movesBytes === true ? await enterTransfers() : 1,
      enterTransfers,
      memory: state.memory,
      smallPuts: state.smallPuts,
      smallGets: state.smallGets,
      records: state.records,
      ranges: state.ranges,
      multipart: state.multipart,
      corsOrigins,
    };
    if (route.isChange) state.ranges.noteChange();
    const answer = await route.run(operation);
    // Drops cached ranges before the client learns of the change. A change with a streamed answer
    // ends later, so `finally` drops them again.
    if (route.isChange) state.ranges.noteChange();
    await writeAnswer(response, answer, admission.place());
  } finally {
    if (route.isChange) state.ranges.noteChange();
    admission.leave();
  }
  function begin(): void {
    if (request.headers.expect?.toLowerCase() === '100-continue') response.writeContinue();
  }
}

function accountOf(state: ServerState, credential: Credential | undefined): Promise<Account> {
  const { accounts, options } = state;
  const stamp = options.accountsStamp?.() ?? '';
  if (stamp !== state.accountsStamp) accounts.clear();
  state.accountsStamp = stamp;
  const id = credential?.accessKeyId ?? '';
  const known = accounts.get(id);
  if (known !== undefined) return known;
  const opened = options.openAccount(credential);
  accounts.set(id, opened);
  opened.catch(() => accounts.delete(id));
  return opened;
}

function signedRequestOf(request: IncomingMessage): SignedRequest {
  const { method = '', url = '', rawHeaders } = request;
  const at = url.indexOf('?');
  const headers: Header[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    headers.push([`${rawHeaders[index]}`.toLowerCase(), `${rawHeaders[index + 1]}`]);
  }
  return {
    method,
    rawPath: at === -1 ? url : url.slice(0, at),
    rawQuery: at === -1 ? '' : url.slice(at + 1),
    headers,
  };
}

/**
 * Reads more of the body for a few seconds: clients read a refusal only after sending the whole
 * body.
 */
function endUnread(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  const timer = setTimeout(() => request.destroy(), closeMsMax);
  request.once('close', () => clearTimeout(timer));
  request.once('end', () => clearTimeout(timer));
  request.resume();
}

function wordsOf({ code, cause }: S3Error): string {
  const isOwn = code === 'InternalError' && cause instanceof Error;
  return isOwn ? `${code}: ${printable(cause.message)}` : code;
}

/** Keeps each log entry on one line, whatever its path contains. */
function printable(text: string): string {
  return text.replace(/[^\u0021-\u007e ]/g, (character) => encodeURIComponent(character));
}
