// Operations of the models on upload sessions, of known and of unknown size.

import { expect } from 'vitest';
import { entityTag } from '../../src/domain/files/file-records.ts';
import { putChunk } from '../../src/domain/uploads/upload-chunks.ts';
import { cancelUpload, finishUpload } from '../../src/domain/uploads/upload-end.ts';
import { begin, testBytes } from './domain-fixture.ts';
import {
  bucketOf,
  digestOf,
  etagOf,
  type ReferenceUpload,
  saveReferenceFile,
} from './model-reference.ts';
import {
  type Answer,
  attempt,
  callNow,
  type Operation,
  oneOf,
  type Run,
  someBucket,
  someConditions,
  someMetadata,
  somePath,
  someTags,
  withoutWrites,
} from './model-run.ts';
import {
  beginCode,
  chunkCode,
  chunksOf,
  completionCode,
  endedCode,
  pieceOf,
  referencePlans,
  sizeOf,
  unevenPieceOf,
} from './model-upload-reference.ts';

export function beginBoth(run: Run): Answer {
  const { reference, model, random } = run;
  const bucket = someBucket(run);
  const path = somePath(run, bucket);
  const { size, pieceLength, isDeclared, isSizeKnown } = oneOf(run, referencePlans);
  const content = testBytes(size, random(1_000));
  const [tags, conditions] = [someTags(run), someConditions(run, bucket, path)];
  const metadata = someMetadata(run);
  const isDigested = random(2) === 0;
  const reserved = { path, tags, metadata, size: isSizeKnown ? size : 0, conditions };
  return attempt(run, beginCode(reference, bucket, reserved), () => {
    const { uploadId } = begin(model.current(), callNow(run), {
      ...{ bucket: bucket.id, path, tags, metadata, ...conditions, contentType: 'text/plain' },
      size: isSizeKnown ? BigInt(size) : undefined,
      chunkSize: isDeclared ? BigInt(pieceLength) : undefined,
      sha256: isDigested ? digestOf(content) : undefined,
    });
    const flags = { isDeclared, isSizeKnown, isDigested };
    const named = { bucket: bucket.id, path, tags, metadata };
    const plan = { ...named, conditions, content, pieceLength, ...flags };
    const times = { begunAtNs: reference.nowNs, usedAtNs: reference.nowNs };
    const state = { chunks: new Map<number, Uint8Array>(), status: 'active', etag: '' } as const;
    reference.uploads.push({ uploadId, ...plan, ...times, ...state });
  });
}

/** Runs the operation on an upload, in most cases on one of the latest open uploads. */
export function onUpload(operation: (run: Run, upload: ReferenceUpload) => Answer): Operation {
  return (run) => {
    const { uploads } = run.reference;
    const open = uploads.filter(({ status }) => status === 'active');
    const latest = oneOf(run, [open.slice(-6), open.slice(-6), uploads.slice(-6), uploads]);
    return latest.length === 0 ? undefined : operation(run, oneOf(run, latest));
  };
}

function putBoth(run: Run, upload: ReferenceUpload, chunk: readonly [number, Uint8Array]): Answer {
  const [index, bytes] = chunk;
  const { reference, model } = run;
  const old = upload.chunks.get(index);
  const isSame = old !== undefined && Buffer.compare(old, bytes) === 0;
  const send = () => {
    const request = { uploadId: upload.uploadId, chunkIndex: BigInt(index), bytes };
    return putChunk(model.current(), callNow(run), request);
  };
  return attempt(run, chunkCode(reference, upload, chunk), () => {
    const session = isSame ? withoutWrites(run, send) : send();
    if (!isSame) upload.usedAtNs = reference.nowNs;
    upload.chunks.set(index, bytes);
    const { size: receivedChunks } = upload.chunks;
    expect(session).toMatchObject({ uploadedSize: sizeOf(upload.chunks), receivedChunks });
  });
}

/** Sends a right chunk, one of the same length with other bytes, or one of another length. */
export function sendChunk(run: Run, upload: ReferenceUpload): Answer {
  const count = Math.ceil(upload.content.length / upload.pieceLength);
  const index = run.random(count + 2);
  const piece = pieceOf(upload, index);
  const other = testBytes(piece.length, run.random(1_000));
  const odd = testBytes(Math.max(0, piece.length + run.random(61) - 30), run.random(1_000));
  return putBoth(run, upload, [index, oneOf(run, [piece, piece, piece, other, odd])]);
}

/** Repeats an existing chunk. */
export function resendChunk(run: Run, upload: ReferenceUpload): Answer {
  const there = [...upload.chunks];
  return there.length === 0 ? undefined : putBoth(run, upload, oneOf(run, there));
}

/** Sends every chunk, from either end; seldom with a short first chunk. */
export function fill(run: Run, upload: ReferenceUpload): Answer {
  const count = Math.ceil(upload.content.length / upload.pieceLength);
  const indexes = Array.from({ length: count }, (_, index) => index);
  if (run.random(2) === 0) indexes.reverse();
  const cut = run.random(8) === 0 ? unevenPieceOf : pieceOf;
  const answers = indexes.map((index) => putBoth(run, upload, [index, cut(upload, index)]));
  return answers.find((answer) => answer !== undefined);
}

function someDigest(run: Run): [string, string][] {
  return run.random(2) === 0 ? [] : [['digest', 'x'.repeat(run.random(1_400))]];
}

export function complete(run: Run, upload: ReferenceUpload): Answer {
  const { reference, model } = run;
  const brought = run.random(3) === 0 ? undefined : [...someMetadata(run), ...someDigest(run)];
  const finish = () => {
    const request = { uploadId: upload.uploadId, apiKey: undefined, metadata: brought };
    return finishUpload(model.current(), callNow(run), request);
  };
  // Pairs of the completion replace earlier pairs of the same name
  const names = new Set(brought?.map(([name]) => name));
  const kept = upload.metadata.filter(([name]) => !names.has(name));
  const metadata = [...kept, ...(brought ?? [])];
  const code = completionCode(reference, upload, metadata);
  if (code === 'UploadCompleted') {
    const { file, isNew } = withoutWrites(run, finish);
    expect({ isNew, etag: entityTag(file) }).toEqual({ isNew: false, etag: upload.etag });
    return code;
  }
  return attempt(run, code, () => {
    const bucket = bucketOf(reference, upload.bucket);
    const isNew = !bucket.files.has(upload.path);
    const done = finish();
    const { path, tags } = upload;
    const chunks = chunksOf(upload);
    const bytes = Buffer.concat(chunks);
    // The reserved bytes are freed before the file is counted.
    Object.assign(upload, { status: 'completed', usedAtNs: reference.nowNs, etag: etagOf(chunks) });
    saveReferenceFile(reference, bucket, { path, tags, metadata, bytes, etag: upload.etag });
    expect({ isNew: done.isNew, etag: entityTag(done.file) }).toEqual({ isNew, etag: upload.etag });
  });
}

export function cancel(run: Run, upload: ReferenceUpload): Answer {
  const { reference, model } = run;
  const end = () => cancelUpload(model.current(), callNow(run), { uploadId: upload.uploadId });
  const code = endedCode(reference, upload);
  if (code === 'UploadCancelled') {
    withoutWrites(run, end);
    return code;
  }
  return attempt(run, code, () => {
    end();
    Object.assign(upload, { status: 'cancelled', usedAtNs: reference.nowNs });
  });
}
