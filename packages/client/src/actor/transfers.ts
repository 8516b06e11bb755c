// Transfers chunks, parts and batches of files through actor calls.

import { IDL } from '@icp-sdk/core/candid';
import { chunkBytesMax } from '../../../wire/src/limits.ts';
import { joinPieces } from '../bytes/byte-stream.ts';
import type { Signal } from '../connection/transport.ts';
import type {
  ChunkUpload,
  OneRoundChunk,
  PartRequest,
  TransferOperations,
} from '../operations/transfers.ts';
import { isStorageError, replacedError } from '../storage-error.ts';
import { type ActorCalls, calling } from './actor-call.ts';
import { argumentStart } from './call-envelope.ts';
import { methodTypes, resultOf } from './candid-interface.ts';
import { fileRecordOf, optional, optionals, pairsOf, sessionOf } from './candid-records.ts';
import type { CandidFile, CandidUpload, Optional, Result } from './candid-types.ts';
import { chunkLengthOf } from './chunk-size.ts';
import { call, errorOfText, type Service } from './connection.ts';
import { explained } from './failures.ts';
import { fileCalls } from './files.ts';
import { callWithBlob } from './large-call.ts';
import { queryBlob } from './large-query.ts';
import { sessionRequestOf } from './upload-requests.ts';

export const transferCalls: ActorCalls<TransferOperations> = {
  getCertifiedFile: calling(({ actor, key }, { bucket, path, version }) => {
    const number = optional(version === undefined ? undefined : BigInt(version));
    return actor.getCertifiedFile(bucket, path, number, key);
  }, fileRecordOf),
  async openFile(service, { bucket, path, version, wantsFirst }, signal) {
    const record = await fileCalls.getFile(service, { bucket, path, version }, signal);
    const { etag, size, contentType } = record;
    const length = await chunkLengthOf(service, record, signal);
    const opened = { version, current: wantsFirst ? undefined : record.version };
    return { etag, size, contentType, ...length, isAnonymous: false, ...opened, first: undefined };
  },
  readPart: (service, part, signal) =>
    part.version === undefined && part.current !== undefined
      ? readCurrent(service, { ...part, current: part.current }, signal)
      : readPieces(service, part, signal),
  async putChunk(service, chunk, signal) {
    await call(signal, () => explained(service, sendChunk(service, chunk, signal)));
    return undefined;
  },
  async uploadChunk(service, chunk, signal) {
    const { file, upload } = await call(signal, () =>
      explained(service, sendOneRound(service, chunk, signal)),
    );
    return file[0] === undefined ? sessionOf(upload) : fileRecordOf(file[0]);
  },
  readFiles: calling(
    ({ actor, key }, { bucket, paths, asThumbnails }) =>
      asThumbnails
        ? actor.readThumbnails(bucket, [...paths], key)
        : actor.readFiles(bucket, [...paths], key),
    ({ results }) =>
      results.map((one) => {
        if ('err' in one) return errorOfText(one.err);
        const { etag, contentType, chunkBytes, bytes } = one.ok;
        return { etag, contentType, chunkBytes: Number(chunkBytes), bytes: new Uint8Array(bytes) };
      }),
  ),
  putFiles: calling(
    ({ actor, key }, { bucket, files }) => {
      const sent = files.map(({ path, bytes, headers, metadata, ...file }) => {
        const { contentType, tags, ifMatch, ifNoneMatch } = file;
        const options = optionals({ contentType, tags, ifMatch, ifNoneMatch });
        const pairs = { headers: pairsOf(headers), metadata: pairsOf(metadata) };
        return { path, bytes, ...options, ...pairs, sha256: optional<string>(undefined) };
      });
      return actor.uploadFiles({ bucketId: bucket, files: sent, apiKey: key });
    },
    (results) => results.map((one) => ('ok' in one ? fileRecordOf(one.ok) : errorOfText(one.err))),
  ),
};

/** The reply is not verified; the entity tag in the completion's reply verifies the whole file. */
function sendChunk(service: Service, chunk: ChunkUpload, signal: Signal): Promise<Result<bigint>> {
  const { uploadId, index, bytes: blob, blob: file, onSent } = chunk;
  return callWithBlob(service.largeCaller, {
    method: 'uploadFileChunkIndexed',
    argumentStart: argumentStart([IDL.Text, IDL.Nat], [uploadId, BigInt(index)]),
    blob,
    file,
    onSent,
    signal,
    resultType: resultOf(IDL.Nat),
  });
}

interface Receipt {
  readonly upload: CandidUpload;
  readonly file: Optional<CandidFile>;
}

/** The reply is verified if it says that the file is stored, or if the caller needs its session. */
function sendOneRound(
  service: Service,
  chunk: OneRoundChunk,
  signal: Signal,
): Promise<Result<Receipt>> {
  const { index, bytes: blob, blob: file, etag, onSent } = chunk;
  const method = 'uploadChunk';
  const { argTypes, result: resultType } = methodTypes(method);
  const values = [sessionRequestOf(service, chunk), BigInt(index), optional(etag)];
  return callWithBlob<Receipt>(service.largeCaller, {
    method,
    argumentStart: argumentStart(argTypes.slice(0, values.length), values),
    blob,
    file,
    onSent,
    signal,
    resultType,
    reliesOn: (result) => 'ok' in result && (result.ok.file.length > 0 || chunk.needsSession()),
  });
}

const { Text, Nat, Opt } = IDL;
const readArguments = [Text, Text, Nat, Nat, Opt(Text)];
const readVersionArguments = [Text, Text, Nat, Nat, Nat, Opt(Text)];

/**
 * Reads a part of a range. No digest verifies a range, and each query may reach a node with another
 * state, so the version is named.
 */
async function readCurrent(
  service: Service,
  part: PartRequest & { readonly current: number },
  signal: Signal,
): Promise<Uint8Array> {
  try {
    return await readPieces(service, { ...part, version: part.current }, signal);
  } catch (error) {
    const isReplaced = isStorageError(error, 'NoSuchFile');
    // Version 0.1.0 has no versions, and not every reader of a public bucket may read them.
    const isRefused = isStorageError(error, 'AccessDenied', 'Unsupported');
    if (!isReplaced && !isRefused) throw error;
    const bytes = isRefused ? await readPieces(service, part, signal) : undefined;
    const { etag, version } = await fileCalls.getFile(service, part, signal);
    if (etag !== part.etag) throw replacedError();
    // The same bytes may have been stored again, or the node had an old state.
    return bytes ?? readPieces(service, { ...part, version }, signal);
  }
}

/** A call returns at most `chunkBytesMax` bytes, so a longer part takes several calls. */
async function readPieces(service: Service, part: PartRequest, signal: Signal) {
  const pieces: Uint8Array[] = [];
  for (let { start } = part; start < part.end; start += chunkBytesMax) {
    const end = Math.min(part.end, start + chunkBytesMax);
    const before = start - part.start;
    const onReceived = (bytes: number) => part.onReceived?.(before + bytes);
    pieces.push(await readPiece(service, { ...part, start, end, onReceived }, signal));
  }
  return joinPieces(pieces);
}

async function readPiece(service: Service, part: PartRequest, signal: Signal) {
  const { canisterId, agent, bulkAgent, key } = service;
  const { bucket, path, version, start, end, isChunk, onReceived } = part;
  const expectedBytes = end - start;
  const range = [BigInt(start), BigInt(expectedBytes), key];
  const [method, types, values] =
    version === undefined
      ? ['readFile', readArguments, [bucket, path, ...range]]
      : ['readVersion', readVersionArguments, [bucket, path, BigInt(version), ...range]];
  const query = { canisterId, method, argument: IDL.encode(types, values), expectedBytes };
  const bytes = await call(signal, () => queryBlob(isChunk ? bulkAgent(onReceived) : agent, query));
  if (bytes.length === expectedBytes) return bytes;
  throw replacedError();
}
