// Nobody makes the canister pay: every hostile argument to every method, by ingress, by a call of
// another canister, which no inspection sees, and by a query. Each refusal is in words, changes
// nothing, and takes no more instructions than it may.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { MessageReport } from '../../replica/core.ts';
import { type Replica, startReplica } from '../../replica/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import { deployLocally, principalOf } from '../../scripts/local-service.ts';
import { type Forwarder, installForwarder } from '../support/forwarder/forwarder.ts';
import { copyPreparedState } from '../support/prepared-state.ts';
import {
  dearest,
  interfaceMethods,
  measureRefusals,
  type Refusal,
  stranger,
} from '../support/refusal-costs.ts';

const instructionsMax = 20_000_000;
const minutes = 60_000;

let folder: string;
let replica: Replica;
let canisterId: string;
let refusals: Refusal[];
const reports: MessageReport[] = [];
let apiKey: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'refusal-costs-'));
  const stateDir = join(folder, 'state');
  await copyPreparedState(stateDir);
  const wasm = new Uint8Array(await readFile((await buildCanister({ force: false })).wasmPath));
  // With a clock of its own, no timer runs between a message and its report.
  const nowNs = BigInt(Date.now()) * 1_000_000n;
  const onReport = (report: MessageReport) => void reports.push(report);
  replica = await startReplica({ server: false, stateDir, now: () => nowNs, onReport });
  const service = await deployLocally({ replica, stateDir, wasm });
  canisterId = service.canisterId;
  apiKey = service.apiKey;
  const owner = principalOf(service.identityPem);
  const honest = { apiKey, uploadId: await beginUpload(owner) };
  refusals = await measureRefusals({ replica, canisterId, reports, honest, owner });
}, 10 * minutes);

afterAll(async () => {
  await replica?.stop();
  await rm(folder, { recursive: true, force: true });
});

const beginTypes = [IDL.Text, IDL.Text, IDL.Text, IDL.Nat, IDL.Opt(IDL.Text)];
const TextResult = IDL.Variant({ ok: IDL.Text, err: IDL.Text });

async function beginUpload(sender: Principal): Promise<string> {
  const argument = IDL.encode(beginTypes, ['demo', '/u', 'text/plain', 100n, []]);
  const reply = await replica.call(canisterId, 'beginFileUpload', argument, { sender });
  const [begun] = IDL.decode([TextResult], reply) as unknown as [{ ok?: string }];
  return begun.ok ?? expect.fail('no upload was begun');
}

describe('whatever is sent', () => {
  test('to every method, in every way', () => {
    for (const { name, isQuery } of interfaceMethods()) {
      const ways = new Set(refusals.filter(({ method }) => method === name).map(({ way }) => way));
      expect([...ways].sort(), name).toEqual(['another canister', isQuery ? 'query' : 'ingress']);
    }
    expect(refusals.length).toBeGreaterThan(8_000);
  });

  test(`costs at most ${instructionsMax} instructions to refuse`, () => {
    for (const way of ['ingress', 'another canister', 'query'] as const) {
      const { method, name, instructions } = dearest(refusals, way) ?? expect.fail(way);
      console.log(`${way}: ${(instructions / 1e6).toFixed(1)} M for ${method}, ${name}`);
    }
    const dear = refusals.filter(({ instructions }) => instructions > instructionsMax);
    expect(dear.map(({ way, method, name }) => `${way} ${method}: ${name}`)).toEqual([]);
  });

  test('is refused in words, by the method or by the inspection', () => {
    const traps = refusals.filter(({ trap }) => trap !== undefined);
    expect(traps.map(({ method, name, trap }) => `${method}: ${name}: ${trap}`)).toEqual([]);
    const inWords = /message: '(?:[A-Z]\w+: |\w+ takes no such)|\w+ takes \(/;
    const wordless = refusals.filter(({ reject }) => reject !== undefined && !inWords.test(reject));
    expect(wordless.map(({ method, name, reject }) => `${method}: ${name}: ${reject}`)).toEqual([]);
  });

  test('changes nothing', () => {
    const written = refusals.filter(({ stablePages }) => stablePages > 0);
    expect(written.map(({ method, name }) => `${method}: ${name}`)).toEqual([]);
  });
});

describe('what was found by attack', () => {
  function instructionsOf(method: string, name: string): number {
    const found = refusals.filter((one) => one.method === method && one.name === name);
    expect(found.length, `${method}: ${name}`).toBeGreaterThan(0);
    return Math.max(...found.map(({ instructions }) => instructions));
  }

  test.each([
    ['getStatus', '2^32 nulls'],
    ['http_request_update', '2^32 nulls'],
    ['uploadFile', '2^32 nulls'],
    ['uploadFileChunkIndexed', '2^32 nulls'],
    ['beginFileUploadWith', 'a tag and lists of nothing in text 4'],
    ['http_request_update', 'PUT, Content-Digest: digests without end'],
    ['beginFileUploadWith', 'a text of 15 kB in an unknown field, lists of 480'],
    ['cancelUpload', '14 kB of letters in text 0'],
    ['deleteFile', '14 kB of letters in text 1'],
    ['http_request_update', 'start with JSON 30,000 deep'],
  ])('%s is not kept busy by %s', (method, name) => {
    expect(instructionsOf(method, name)).toBeLessThan(instructionsMax);
  });
});

describe('a call of another canister', () => {
  let forwarder: Forwarder;

  beforeAll(async () => {
    forwarder = await installForwarder(replica);
  });

  test('that is honest is carried out', async () => {
    const argument = IDL.encode(beginTypes, ['demo', '/v', 'text/plain', 1n, [apiKey]]);
    const reply = await forwarder.call(canisterId, 'beginFileUpload', argument);
    expect(IDL.decode([TextResult], reply)).toEqual([
      { ok: expect.stringMatching(/^[0-9a-f]{32}$/) },
    ]);
  });

  test('without its last option gets the answer to none', async () => {
    const argument = IDL.encode(beginTypes.slice(0, 4), ['demo', '/v', 'text/plain', 1n]);
    const reply = await forwarder.call(canisterId, 'beginFileUpload', argument);
    expect(JSON.stringify(IDL.decode([TextResult], reply))).toContain('AccessDenied: ');
  });

  test('that a stranger could not send gets the same words by ingress', async () => {
    const argument = IDL.encode([IDL.Text], ['00'.repeat(16)]);
    const reply = await forwarder.call(canisterId, 'cancelUpload', argument);
    expect(Buffer.from(reply).toString()).toContain('NoSuchUpload: There is no upload');
    const sent = replica.call(canisterId, 'cancelUpload', argument, { sender: stranger });
    await expect(sent).rejects.toThrow('NoSuchUpload: There is no upload');
  });
});
