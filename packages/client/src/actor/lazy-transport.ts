// The actor's transport, loaded with its first use, so that programs over HTTP never load the
// agent.

import { chunkBytesMax } from '../../../wire/src/limits.ts';
import { canisterAddress } from '../connection/canister-address.ts';
import { callBodyMsMax } from '../connection/transfer-window.ts';
import type { Administration, Transport } from '../connection/transport.ts';
import type { ActorConnection } from './connection.ts';

export function lazyTransport(connection: ActorConnection): Transport {
  let opened: Promise<Transport> | undefined;
  const open = () => {
    opened ??= import('./transport.ts').then(({ openActorTransport }) =>
      openActorTransport(connection),
    );
    // If the network failed, the next call tries again.
    opened.catch(() => {
      opened = undefined;
    });
    return opened;
  };
  const manage = async (): Promise<Administration> =>
    (await open()).administration as Administration;
  return {
    wholeFileBytesMax: chunkBytesMax,
    bodyMsMax: callBodyMsMax,
    line: connection.line,
    probe: async (bytes) => (await open()).probe(bytes),
    putFile: async (file, signal) => (await open()).putFile(file, signal),
    putFiles: async (batch, signal) => (await open()).putFiles(batch, signal),
    startUpload: async (request, signal) => (await open()).startUpload(request, signal),
    getUpload: async (name, signal) => (await open()).getUpload(name, signal),
    putChunk: async (chunk, signal) => (await open()).putChunk(chunk, signal),
    completeUpload: async (told, signal) => (await open()).completeUpload(told, signal),
    cancelUpload: async (name, signal) => (await open()).cancelUpload(name, signal),
    listUploads: async (bucket, signal) => (await open()).listUploads(bucket, signal),
    getEndToEnd: async (bucket, signal) => (await open()).getEndToEnd(bucket, signal),
    openFile: async (file, options) => (await open()).openFile(file, options),
    readPart: async (part, signal) => (await open()).readPart(part, signal),
    linkBase: canisterAddress(connection),
    readsByLinks: false,
    createLink: async (request) => (await open()).createLink(request),
    listLinks: async (request) => (await open()).listLinks(request),
    removeLink: async (bucket, id, signal) => (await open()).removeLink(bucket, id, signal),
    getFile: async (...asked) => (await open()).getFile(...asked),
    listFiles: async (request) => (await open()).listFiles(request),
    listFolder: async (request) => (await open()).listFolder(request),
    usage: async (request) => (await open()).usage(request),
    deleteFile: async (...asked) => (await open()).deleteFile(...asked),
    deleteFiles: async (deletion, signal) => (await open()).deleteFiles(deletion, signal),
    copyFile: async (request, signal) => (await open()).copyFile(request, signal),
    moveFile: async (request, signal) => (await open()).moveFile(request, signal),
    moveFiles: async (move, signal) => (await open()).moveFiles(move, signal),
    changeFile: async (file, change) => (await open()).changeFile(file, change),
    listVersions: async (request, signal) => (await open()).listVersions(request, signal),
    restoreVersion: async (request, signal) => (await open()).restoreVersion(request, signal),
    eraseVersions: async (erasure, signal) => (await open()).eraseVersions(erasure, signal),
    status: async (signal) => (await open()).status(signal),
    administration: {
      createBucket: async (id, options) => (await manage()).createBucket(id, options),
      getBucket: async (id) => (await manage()).getBucket(id),
      listBuckets: async (page) => (await manage()).listBuckets(page),
      updateBucket: async (id, change) => (await manage()).updateBucket(id, change),
      deleteBucket: async (id, options) => (await manage()).deleteBucket(id, options),
      getBucketIdentity: async (...asked) => (await manage()).getBucketIdentity(...asked),
      setBucketRecipient: async (...told) => (await manage()).setBucketRecipient(...told),
      rotateBucketIdentity: async (id) => (await manage()).rotateBucketIdentity(id),
      createKey: async (request) => (await manage()).createKey(request),
      listKeys: async (bucket) => (await manage()).listKeys(bucket),
      revokeKey: async (id) => (await manage()).revokeKey(id),
      updateAccess: async (change) => (await manage()).updateAccess(change),
      rotateBucketKey: async (bucket) => (await manage()).rotateBucketKey(bucket),
      rotateRootKey: async (source) => (await manage()).rotateRootKey(source),
      setWellKnown: async (text) => (await manage()).setWellKnown(text),
      listWellKnown: async () => (await manage()).listWellKnown(),
    },
  };
}
