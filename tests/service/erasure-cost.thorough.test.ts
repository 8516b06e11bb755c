// Erasing the present version restores the former one, with the leaves of all its links. It must be
// as cheap as the completion of an upload to the same path, which writes as many leaves. With
// 10,000 chunks and 12 links, both take 14.1 G of the 40 G instructions of a message.

import { IDL } from '@dfinity/candid';
import { Ed25519KeyIdentity } from '@icp-sdk/core/identity';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ed25519Seed } from '../support/owner-key.ts';
import { openService, type Service } from '../support/service.ts';

const chunkCount = 200;
const linkCount = 12;
const optionalText = IDL.Opt(IDL.Text);

let service: Service;

beforeAll(async () => {
  service = await openService({});
});

afterAll(() => service?.stop());

function replica() {
  return service.replica ?? expect.fail('needs a replica of its own');
}

async function send(method: string, path: string, body?: object): Promise<Response> {
  const response = await fetch(`${service.base}/api/v1/bucket/${service.bucket}/${path}`, {
    method,
    headers: { Authorization: `Bearer ${service.apiKey}` },
    body: body === undefined ? null : JSON.stringify(body),
  });
  expect(response.status, await response.clone().text()).toBeLessThan(300);
  return response;
}

async function begin(path: string): Promise<string> {
  const types = [IDL.Text, IDL.Text, IDL.Text, IDL.Nat, optionalText];
  const values = [service.bucket, path, 'a/b', BigInt(chunkCount), [service.apiKey]];
  const argument = IDL.encode(types, values);
  const reply = await replica().call(service.canisterId, 'beginFileUpload', argument);
  const Begun = IDL.Variant({ ok: IDL.Text, err: IDL.Text });
  const [{ ok, err }] = IDL.decode([Begun], reply) as unknown as [{ ok?: string; err?: string }];
  return ok ?? expect.fail(err);
}

async function call(method: string, types: IDL.Type[], values: unknown[]): Promise<void> {
  await replica().call(service.canisterId, method, IDL.encode(types, values));
}

function instructionsOf(name: string): number {
  const last = replica().reports.findLast(({ method }) => method === name);
  return Number(last?.instructions ?? expect.fail('no message'));
}

async function keepVersions(): Promise<void> {
  const owner = Ed25519KeyIdentity.generate(ed25519Seed(service.identityPem)).getPrincipal();
  const Change = IDL.Record({ bucketId: IDL.Text, keepVersionsDays: IDL.Opt(IDL.Nat) });
  const change = IDL.encode([Change], [{ bucketId: service.bucket, keepVersionsDays: [7n] }]);
  await replica().call(service.canisterId, 'updateBucket', change, { sender: owner.toText() });
}

/** Returns the instructions of the completion. */
async function upload(path: string): Promise<number> {
  const uploadId = await begin(path);
  for (let index = 0; index < chunkCount; index++) {
    const chunk = [uploadId, index, Uint8Array.of(index)];
    await call('uploadFileChunkIndexed', [IDL.Text, IDL.Nat, IDL.Vec(IDL.Nat8)], chunk);
  }
  await call('completeFileUpload', [IDL.Text, optionalText], [uploadId, []]);
  return instructionsOf('completeFileUpload');
}

test(`eraseVersions of a current version with ${linkCount} links costs at most 1.1 times the completion of an upload`, async () => {
  await keepVersions();
  await upload('/many.bin');
  for (let count = 0; count < linkCount; count++) await send('POST', 'links', { path: 'many.bin' });
  const completed = await upload('/many.bin');
  await send('DELETE', 'versions/many.bin?version=2');
  const erased = instructionsOf('http_request_update');
  expect(await (await send('GET', 'files/many.bin')).json()).toMatchObject({ version: 1 });
  expect(erased).toBeLessThanOrEqual(1.1 * completed);
});
