// GET /metrics through the verifying gateway: who may read the metrics, what they say, what they
// cost, and that a front has none.

import { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { version } from '../../package.json';
import type { MessageReport } from '../../packages/replica/src/core.ts';
import { encodeUpdateRequest } from '../../packages/replica/src/gateway/candid-messages.ts';
import { metricNames } from '../../packages/wire/src/metrics/families.ts';
import { contentTypes } from '../../packages/wire/src/metrics/text.ts';
import { lastReportOf, printCost, refusedAs } from '../support/method-reports.ts';
import { changeOf, keyFor, type Person, personOf } from '../support/people.ts';
import { exchangeWith } from '../support/raw-exchange.ts';
import { instructionsMax } from '../support/refusal-checks.ts';
import { openService, type Service } from '../support/service.ts';

const reports: MessageReport[] = [];
let service: Service;
let owner: Person;
let tenant: Person;

beforeAll(async () => {
  service = await openService({ onReport: (report) => void reports.push(report) });
  owner = personOf(service, 'owner');
  tenant = personOf(service, 1);
  await owner.get('updateAccess', changeOf('updateAccess', { allow: [[tenant.principal]] }));
  await tenant.get('createBucket', 'films', []);
  await tenant.get('updateBucket', changeOf('films', { quotaBytes: [1_000_000n] }));
  await tenant.get('createBucket', 'spare', []);
  await owner.get('createBucket', 'secret', []);
  const file = { contentType: 'a/b', bytes: new Uint8Array(1_234), tags: [] };
  await tenant.get('uploadFile', { ...file, bucketId: 'films', path: 'a.bin' });
});
afterAll(() => service?.stop());

async function keyOf(buckets: string[], permissions: string[], more = {}, by = tenant) {
  const request = { ...keyFor(buckets, permissions), ...more };
  return (await by.get<{ secret: string }>('createApiKey', request)).secret;
}

function get(key?: string, headers: Record<string, string> = {}, method = 'GET') {
  const authorization = key === undefined ? {} : { Authorization: `Bearer ${key}` };
  return fetch(`${service.base}/metrics`, { method, headers: { ...authorization, ...headers } });
}

async function read(key: string): Promise<string> {
  const response = await get(key);
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return text;
}

/** Returns the values of a metric by their labels besides those of the canister. */
function valuesOf(text: string, name: string): Record<string, number> {
  const own = `canister="${service.canisterId}",role="canister"`;
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`));
  return Object.fromEntries(
    lines.map((line) => {
      const [, labels = '', value] = /\{(.*)\} (\S+)$/.exec(line) ?? [];
      expect(labels).toContain(own);
      return [labels.replace(own, '').replace(/^,/, ''), Number(value)];
    }),
  );
}

describe('GET /metrics', () => {
  test('reports the figures of the canister and of the buckets of the key', async () => {
    const text = await read(await keyOf(['films'], ['monitor']));
    const status = await tenant.get<Record<string, bigint>>('getStatus');
    expect(valuesOf(text, 'efs_up')).toEqual({ '': 1 });
    expect(valuesOf(text, 'efs_files')).toEqual({ '': Number(status.files) });
    expect(valuesOf(text, 'efs_buckets')).toEqual({ '': Number(status.buckets) });
    expect(valuesOf(text, 'efs_stored_bytes')).toEqual({ '': Number(status.bytesStored) });
    expect(valuesOf(text, 'efs_stable_memory_bytes')).toEqual({ '': Number(status.stableBytes) });
    expect(valuesOf(text, 'efs_code_info')).toEqual({ [`version="${version}",module=""`]: 1 });
    expect(valuesOf(text, 'efs_root_key_present')).toEqual({ '': 1 });
    expect(Object.keys(valuesOf(text, 'efs_budget_left'))).toHaveLength(4);
    const films = 'bucket="films"';
    expect(valuesOf(text, 'efs_bucket_files')).toEqual({ [films]: 1 });
    expect(valuesOf(text, 'efs_bucket_stored_bytes')).toEqual({ [films]: 1_234 });
    expect(valuesOf(text, 'efs_bucket_quota_bytes')).toEqual({ [films]: 1_000_000 });
    expect(valuesOf(text, 'efs_bucket_subscriptions')).toEqual({ [films]: 0 });
    const names = new Set([...text.matchAll(/^(efs_\w+)\{/gm)].map(([, name = '']) => name));
    expect([...names].filter((name) => !metricNames.includes(name))).toEqual([]);
  });

  test("reports cycles as getStatus does to the key's creator", async () => {
    const text = await read(await keyOf(['films'], ['monitor']));
    const { cycles } = await tenant.get<{ cycles: [bigint] }>('getStatus');
    const [balance = 0] = Object.values(valuesOf(text, 'efs_balance_cycles'));
    expect(balance / Number(cycles[0])).toBeCloseTo(1, 2);
    expect(valuesOf(text, 'efs_balance_seconds')).toHaveProperty('');
  });

  test('answers in the format that Accept prefers, to HEAD without a body, and never cached', async () => {
    const key = await keyOf(['films', 'spare'], ['monitor']);
    const plain = await get(key, { Accept: 'text/plain' });
    expect(plain.headers.get('content-type')).toBe(contentTypes.prometheus);
    expect(plain.headers.get('cache-control')).toBe('private, no-store');
    expect(plain.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await plain.text()).toContain('# TYPE efs_code_info gauge\n');
    const open = await get(key);
    expect(open.headers.get('content-type')).toBe(contentTypes.openmetrics);
    expect(await open.text()).toMatch(/\n# EOF\n$/);
    const head = await get(key, {}, 'HEAD');
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  test('counts subscriptions, those with undelivered entries, and those that fail', async () => {
    const key = await keyOf(['spare'], ['monitor']);
    // The id of a canister that does not exist
    const canister = Principal.fromUint8Array(Uint8Array.of(0, 0, 0, 0, 0, 9, 9, 9, 1, 1));
    const request = { bucketId: 'spare', canister, method: 'efs_events', after: [0n] };
    await tenant.get('addSubscription', request);
    await expect
      .poll(async () => valuesOf(await read(key), 'efs_bucket_subscriptions_failing'))
      .toEqual({ 'bucket="spare"': 1 });
    const text = await read(key);
    expect(valuesOf(text, 'efs_bucket_subscriptions')).toEqual({ 'bucket="spare"': 1 });
    expect(valuesOf(text, 'efs_bucket_subscriptions_waiting')).toEqual({ 'bucket="spare"': 1 });
  });

  test('refuses requests without a key, and keys without monitor or with a prefix', async () => {
    const refused = async (key: string | undefined, status: number, code: string) => {
      const response = await get(key);
      const { error } = (await response.json()) as { error: { code: string; message: string } };
      expect([response.status, error.code]).toEqual([status, code]);
      expect(response.headers.get('cache-control')).toBe('private, no-store');
      expect(Number(lastReportOf(reports, 'http_request', 'query').instructions)).toBeLessThan(
        instructionsMax / 4,
      );
      return error.message;
    };
    await refused(undefined, 401, 'Unauthorized');
    await refused('wrong', 401, 'InvalidApiKey');
    await refused(`efs_${'A'.repeat(49)}`, 401, 'InvalidApiKey');
    const all = await keyOf(['films'], ['read', 'write', 'delete', 'retain', 'audit']);
    expect(await refused(all, 403, 'AccessDenied')).toContain('has no monitor permission');
    const part = await keyOf(['films'], ['monitor'], { prefix: ['a/'] });
    expect(await refused(part, 403, 'AccessDenied')).toContain('"a/"');
    const posted = await get(await keyOf(['films'], ['monitor']), {}, 'POST');
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    const below = await fetch(`${service.base}/metrics/x`);
    expect(below.status).toBe(404);
  });

  test('is no more readable by a key after it was revoked', async () => {
    const request = keyFor(['films'], ['monitor']);
    const key = await tenant.get<{ id: string; secret: string }>('createApiKey', request);
    await read(key.secret);
    await tenant.get('revokeApiKey', key.id);
    expect((await get(key.secret)).status).toBe(401);
  });

  test('leaves out a bucket that the creator of the key has handed on', async () => {
    await tenant.get('createBucket', 'handed', []);
    const key = await keyOf(['films', 'handed'], ['monitor']);
    expect(Object.keys(valuesOf(await read(key), 'efs_bucket_files'))).toHaveLength(2);
    const change = { owner: [owner.principal], removeMembers: [[tenant.principal]] };
    await tenant.get('updateBucket', changeOf('handed', change));
    expect(valuesOf(await read(key), 'efs_bucket_files')).toEqual({ 'bucket="films"': 1 });
  });

  test('is answered by one query, whose cost is bounded by the 100 buckets of a key', async () => {
    const one = await keyOf(['films'], ['monitor']);
    const before = reports.length;
    await read(one);
    expect(reports.slice(before).map(({ kind }) => kind)).toEqual(['query']);
    printCost('one bucket', lastReportOf(reports, 'http_request', 'query'));
    const buckets = Array.from({ length: 100 }, (_, index) => `many-${index}`);
    for (const bucket of buckets) await tenant.get('createBucket', bucket, []);
    const text = await read(await keyOf(buckets, ['monitor']));
    expect(Object.keys(valuesOf(text, 'efs_bucket_files'))).toHaveLength(100);
    const all = lastReportOf(reports, 'http_request', 'query');
    printCost(`100 buckets, ${text.length} bytes`, all);
    expect(Number(all.instructions)).toBeLessThan(150_000_000);
  });
});

describe('http_request_update', () => {
  test('accepts no GET of /metrics, whose inspection is cheap for a key of 100 buckets too', async () => {
    const buckets = Array.from({ length: 100 }, (_, index) => `many-${index}`);
    const headers = [['Authorization', `Bearer ${await keyOf(buckets, ['monitor'])}`]] as const;
    const sent = { method: 'GET', url: '/metrics', headers, body: new Uint8Array(0) };
    const argument = encodeUpdateRequest(sent);
    const before = reports.length;
    const call = service.network.call(service.canisterId, 'http_request_update', argument);
    await expect(call).rejects.toThrow('does not accept this message');
    const [inspection, ...others] = reports.slice(before).filter(({ kind }) => kind !== 'query');
    expect([inspection?.kind, others]).toEqual(['inspect', []]);
    expect(Number(inspection?.instructions)).toBeLessThan(instructionsMax);
  });
});

describe('createApiKey', () => {
  test('gives monitor only to owners of the buckets', async () => {
    const reader = personOf(service, 2);
    const addMembers = [[{ principal: reader.principal, role: 'reader', name: [] }]];
    await tenant.get('updateBucket', changeOf('films', { addMembers }));
    const request = keyFor(['films'], ['monitor']);
    expect(await reader.ask('createApiKey', request)).toEqual(refusedAs('AccessDenied'));
    expect(await tenant.ask('createApiKey', keyFor(['films', 'secret'], ['monitor']))).toEqual(
      refusedAs('NoSuchBucket'),
    );
  });

  test('gives a key with only monitor no right to files', async () => {
    const key = await keyOf(['films'], ['monitor']);
    for (const tail of ['files', 'files/a.bin', 'usage', 'journal', 'upload', 'rules']) {
      const response = await fetch(`${service.base}/api/v1/bucket/films/${tail}`, {
        headers: { Authorization: `Bearer ${key}` },
      });
      expect(response.status, tail).toBe(403);
    }
  });
});

describe('GET /metrics of a service with a front', () => {
  test('answers at a volume with its role, and 404 at the front', async () => {
    const whole = await openService({ hasFront: true });
    try {
      const owner = personOf(whole, 'owner');
      const request = keyFor([whole.bucket], ['monitor']);
      const { secret } = await owner.get<{ secret: string }>('createApiKey', request);
      const headers = { Authorization: `Bearer ${secret}` };
      const at = (url: string) => {
        const { hostname } = new URL(url);
        return exchangeWith(url, hostname, { method: 'GET', path: '/metrics', headers });
      };
      const volume = await at(whole.base);
      expect(volume.status).toBe(200);
      const text = volume.body.toString();
      expect(text).toContain(`efs_up{canister="${whole.canisterId}",role="volume"} 1`);
      expect(text).not.toContain('efs_stable_memory_limit_bytes');
      expect((await at(whole.frontUrl ?? '')).status).toBe(404);
    } finally {
      await whole.stop();
    }
  });
});
