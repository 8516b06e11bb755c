// A node's claim that the service lacks a method: without the network's signature, the client does
// not call the methods of version 0.1.0 instead, which verify less.

import { expect, test } from 'vitest';
import type { Service } from '../../packages/client/src/actor/connection.ts';
import { uploadCalls } from '../../packages/client/src/actor/uploads.ts';
import { StorageError } from '../../packages/client/src/storage-error.ts';

const file = { bucket: 'demo', path: 'a.bin' };
const metadata = { contentType: 'a/b', tags: [], headers: {}, metadata: {}, ...file };

function denying() {
  const called: string[] = [];
  const method = (name: string, isKnown: boolean) => async (): Promise<object> => {
    called.push(name);
    if (isKnown) return { ok: {} };
    throw new StorageError('Unsupported', `The service's version does not have ${name}.`);
  };
  const actor = {
    completeFileUploadWith: method('completeFileUploadWith', false),
    completeFileUpload: method('completeFileUpload', true),
    uploadFiles: method('uploadFiles', false),
    getFile: method('getFile', true),
  };
  const earlierUploads = { uploadFile: method('uploadFile', true) };
  const agent = { readState: () => Promise.reject(new Error('The node answers nothing else.')) };
  const canisterId = 'uxrrr-q7777-77774-qaaaq-cai';
  const service = { actor, earlierUploads, agent, canisterId, apiKey: 'key', key: ['key'] };
  return { service: service as unknown as Service, called };
}

test('completeUpload() does not complete a file without its entity tag for a node’s claim', async () => {
  const { service, called } = denying();
  const completion = { ...file, uploadId: 'u', etag: 'tag', metadata: undefined };
  await expect(uploadCalls.completeUpload(service, completion, undefined)).rejects.toThrow();
  expect(called).toEqual(['completeFileUploadWith']);
});

test('putFile() does not send a file by the earlier method for a node’s claim', async () => {
  const { service, called } = denying();
  const conditions = { sha256: undefined, ifMatch: undefined, ifNoneMatch: undefined };
  const bytes = new Uint8Array(3);
  const whole = { ...metadata, ...conditions, bytes, digest: new Uint8Array(32) };
  await expect(uploadCalls.putFile(service, whole, undefined)).rejects.toThrow();
  expect(called).toEqual(['uploadFiles']);
});
