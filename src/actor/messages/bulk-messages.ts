// Hand-written codecs of the messages that carry file bytes. A message in another form goes to the
// argument decoder, which handles subtypes and describes the errors.

import { IDL, idlLabelToId } from '@dfinity/candid';
import { type Header, pathStart, type HttpRequest as Request } from '../../http/message.ts';
import { concatBytes, emptyBytes } from '../../lib/bytes.ts';
import { leb128 } from '../../lib/leb128.ts';
import { decodeUtf8, encodeUtf8 } from '../../lib/text.ts';
import {
  gatewayUrlBytesMax,
  requestHeaderCountMax,
  requestTextBytesMax,
  requestUrlBytesMax,
} from '../../limits.ts';
import { HttpRequest, HttpResponse } from '../candid/http.ts';
import {
  CandidFault,
  type CandidReader,
  candidTypes,
  readCandid,
  type TableEntry,
  UnknownCandid,
} from '../candid/reader.ts';
import { messageHead } from '../candid/result.ts';
import { type ArgumentBounds, decodeWithin, planOf } from './argument-decoder.ts';
import { readRequestNatively } from './native-request.ts';

const requestFields = new Map(
  (['url', 'method', 'body', 'headers', 'certificate_version'] as const).map((name) => [
    idlLabelToId(name),
    name,
  ]),
);

/** Decodes the argument of `http_request` and `http_request_update`; the body is a view into it. */
export function decodeRequest(argument: Uint8Array, bounds: ArgumentBounds): Request {
  const request =
    readRequestNatively(argument, bounds.textBytes) ?? readAnyRequest(argument, bounds);
  if (request.headers.length > requestHeaderCountMax) {
    throw new RequestTooLarge('HeadersTooLarge', request);
  }
  if (request.url.length > requestUrlBytesMax) {
    throw new RequestTooLarge('UriTooLong', request);
  }
  return request;
}

/** Reads requests in any other form; also the slow reference model of the fast reader. */
export function readAnyRequest(argument: Uint8Array, bounds: ArgumentBounds): Request {
  const read = readCandid(argument, bounds.textBytes, readRequest);
  return read ?? (decodeWithin(requestPlans, argument, bounds)[0] as Request);
}

/**
 * A request that HTTP refuses with a status; only its method and URL are known. OPTIONS is answered
 * at every path; its URL here is the part of the path that a proof of absence needs.
 */
export class RequestTooLarge extends CandidFault {
  readonly code: 'HeadersTooLarge' | 'UriTooLong';
  readonly request: Request;

  constructor(code: RequestTooLarge['code'], { method, url }: Pick<Request, 'method' | 'url'>) {
    super(
      code === 'UriTooLong'
        ? `has a URL of more than ${requestUrlBytesMax} bytes`
        : `has more than ${requestHeaderCountMax} headers, or more than ${requestTextBytesMax} bytes ` +
            'of URL and headers',
    );
    this.code = code;
    const shown = method === 'OPTIONS' ? pathStart(url) : url;
    this.request = { method, url: shown, headers: [], body: emptyBytes };
  }
}

const requestPlans = [planOf(HttpRequest)];

function readRequest(reader: CandidReader): Request {
  const found: Partial<Record<string, unknown>> = {};
  try {
    readRequestFields(reader, found);
  } catch (error) {
    throw withinHeaders(found, error) ?? error;
  }
  const { method, url, headers, body } = found;
  if (method === undefined || url === undefined || headers === undefined || body === undefined) {
    throw new UnknownCandid();
  }
  return { method, url, headers, body } as Request;
}

function readRequestFields(reader: CandidReader, found: Partial<Record<string, unknown>>): void {
  const table = reader.table();
  const root = argumentTypes(reader, 1)[0];
  for (const [id, type] of entryOf(table, root, candidTypes.record).parts) {
    const name = requestFields.get(id);
    if (name === undefined) {
      throw new UnknownCandid();
    }
    found[name] = readField(reader, { name, type, table });
    if (name === 'method' && typeof found.url !== 'string') throw longUrl(found);
  }
}

/** Returns the fault of a long URL, once the method, which follows it, has been read. */
function longUrl({ method, url }: Partial<Record<string, unknown>>): CandidFault {
  const text = method === 'OPTIONS' ? decodeUtf8(url as Uint8Array) : undefined;
  return text === undefined
    ? new CandidFault('has texts that are too long')
    : new RequestTooLarge('UriTooLong', { method: 'OPTIONS', url: text });
}

/** Fields are ordered by hash: the headers follow URL, method and body. */
function withinHeaders(found: Partial<Record<string, unknown>>, fault: unknown) {
  const { method, url, body, headers } = found;
  const isKnown = typeof method === 'string' && typeof url === 'string' && body !== undefined;
  return isKnown && headers === undefined && fault instanceof CandidFault
    ? new RequestTooLarge('HeadersTooLarge', { method, url } as Request)
    : undefined;
}

function readField(
  reader: CandidReader,
  field: { readonly name: string; readonly type: number; readonly table: TableEntry[] },
): unknown {
  const { name, type, table } = field;
  switch (name) {
    case 'body':
      requireElement(table, type, { kind: candidTypes.vec, element: candidTypes.nat8 });
      return reader.blob();
    case 'headers':
      return readHeaders(reader, { type, table });
    case 'certificate_version':
      requireElement(table, type, { kind: candidTypes.opt, element: candidTypes.nat16 });
      return reader.flag() ? reader.byte() + 256 * reader.byte() : null;
    case 'url': {
      requireType(type, candidTypes.text);
      const ahead = reader.longBlob(requestTextBytesMax, gatewayUrlBytesMax);
      return ahead ?? reader.text();
    }
    default:
      requireType(type, candidTypes.text);
      return reader.text();
  }
}

function readHeaders(
  reader: CandidReader,
  field: { readonly type: number; readonly table: TableEntry[] },
): Header[] {
  requirePairs(field.table, field.type);
  const headers: Header[] = [];
  for (let count = reader.count(requestHeaderCountMax); count > 0; count--) {
    headers.push([reader.text(), reader.text()]);
  }
  return headers;
}

export function entryOf(
  table: readonly TableEntry[],
  type: number | undefined,
  kind: number,
): TableEntry {
  const entry = type === undefined ? undefined : table[type];
  if (entry?.kind !== kind) {
    throw new UnknownCandid();
  }
  return entry;
}

/** Requires a list of tuples of two texts. */
export function requirePairs(table: readonly TableEntry[], type: number | undefined): void {
  const element = entryOf(table, type, candidTypes.vec).parts[0]?.[1];
  const { parts } = entryOf(table, element, candidTypes.record);
  const isPair =
    parts.length === 2 && parts.every(([id, of], place) => id === place && of === candidTypes.text);
  if (!isPair) throw new UnknownCandid();
}

export function requireElement(
  table: readonly TableEntry[],
  type: number | undefined,
  expected: { readonly kind: number; readonly element: number },
): void {
  requireType(entryOf(table, type, expected.kind).parts[0]?.[1], expected.element);
}

export function requireType(actual: number | undefined, expected: number): void {
  if (actual !== expected) {
    throw new UnknownCandid();
  }
}

export function argumentTypes(reader: CandidReader, count: number): number[] {
  requireType(reader.unsigned(), count);
  return Array.from({ length: count }, () => reader.type());
}

export interface ChunkArgument {
  readonly uploadId: string;
  readonly chunkIndex: bigint;
  readonly bytes: Uint8Array;
}

/** Decodes the arguments of `uploadFileChunkIndexed`; the chunk is a view into them. */
export function decodeChunk(argument: Uint8Array, bounds: ArgumentBounds): ChunkArgument {
  const chunk = readCandid(argument, bounds.textBytes, readChunk);
  if (chunk !== undefined) {
    return chunk;
  }
  const values = decodeWithin(chunkPlans, argument, bounds);
  const [uploadId, chunkIndex, bytes] = values as [string, bigint, Uint8Array];
  return { uploadId, chunkIndex, bytes };
}

const chunkPlans = [IDL.Text, IDL.Nat, IDL.Vec(IDL.Nat8)].map(planOf);

function readChunk(reader: CandidReader): ChunkArgument {
  const table = reader.table();
  const [uploadId, chunkIndex, bytes] = argumentTypes(reader, 3);
  requireType(uploadId, candidTypes.text);
  requireType(chunkIndex, candidTypes.nat);
  requireElement(table, bytes, { kind: candidTypes.vec, element: candidTypes.nat8 });
  return {
    uploadId: reader.text(),
    chunkIndex: BigInt(reader.unsigned()),
    bytes: reader.blob(),
  };
}

// The fields follow in the order of their hashes: body, headers, upgrade, strategy, status.
export const answerHead = messageHead(HttpResponse);

export interface EncodableResponse {
  readonly status: number;
  /** A value can be a text or its UTF-8, which is faster for long ones. */
  readonly headers: readonly (readonly [name: string, value: string | Uint8Array])[];
  readonly body: Uint8Array;
  /** A streaming strategy from encodeStrategy(); absent if the body is complete. */
  readonly strategy?: Uint8Array | undefined;
}

/**
 * Slow variant of native-reply.ts, for answers that exceed its limits; `isUpgrade` asks the gateway
 * to repeat the request as an update.
 */
export function encodeResponse(response: EncodableResponse, isUpgrade: boolean): Uint8Array {
  const { status, headers, body, strategy = Uint8Array.of(0) } = response;
  const texts = headers.flat();
  const upgrade = isUpgrade ? Uint8Array.of(1, 1) : Uint8Array.of(0);
  return concatBytes(
    answerHead,
    leb128(body.length),
    body,
    leb128(headers.length),
    ...encodeTexts(texts),
    upgrade,
    strategy,
    Uint8Array.of(status & 0xff, status >> 8),
  );
}

const shortLengthMax = 127;

/**
 * Encodes each text after its length. A length of one byte is an ASCII character, so one native
 * call encodes consecutive short ASCII texts together with their lengths.
 */
function encodeTexts(texts: readonly (string | Uint8Array)[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let run: string[] = [];
  const endRun = () => {
    if (run.length > 0) pieces.push(...encodeRun(run));
    run = [];
  };
  for (const text of texts) {
    if (typeof text === 'string' && text !== '' && text.length <= shortLengthMax) {
      run.push(text);
    } else {
      endRun();
      const bytes = typeof text === 'string' ? encodeUtf8(text) : text;
      pieces.push(leb128(bytes.length), bytes);
    }
  }
  endRun();
  return pieces;
}

function encodeRun(texts: readonly string[]): Uint8Array[] {
  const framed = texts.map((text) => String.fromCharCode(text.length) + text).join('');
  const bytes = encodeUtf8(framed);
  if (bytes.length === framed.length) {
    return [bytes];
  }
  return texts.flatMap((text) => {
    const encoded = encodeUtf8(text);
    return [leb128(encoded.length), encoded];
  });
}
