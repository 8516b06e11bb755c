// The record of a file by an update, whose reply the network signs: who may call it, and its cost.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { MessageReport } from '../../packages/replica/src/core.ts';
import { lastReportOf, printCost, refusedAs, withoutRefusals } from '../support/method-reports.ts';
import { changeOf, keyFor, type Person, personOf } from '../support/people.ts';
import { instructionsMax } from '../support/refusal-checks.ts';
import { openService, type Service } from '../support/service.ts';

const reports: MessageReport[] = [];
let service: Service;
let owner: Person;
let nobody: Person;

beforeAll(async () => {
  service = await openService({ onReport: (report) => void reports.push(report) });
  owner = personOf(service, 'owner');
  nobody = personOf(service, 'nobody');
  for (const [bucketId, options] of [
    ['secret', []],
    ['open', [{ isPublic: [true] }]],
  ] as const) {
    await owner.get('createBucket', bucketId, options);
    const bytes = new Uint8Array(1_000);
    await owner.get('uploadFile', { bucketId, path: 'in/a', contentType: 'a/b', bytes });
  }
});
afterAll(() => service?.stop());

async function keyOf(permissions: string[], fields: object = {}): Promise<string> {
  const request = { ...keyFor(['secret', 'open'], permissions), ...fields };
  return (await owner.get<{ secret: string }>('createApiKey', request)).secret;
}

const ask = (person: Person, bucket: string, key?: string, path = 'in/a') =>
  person.ask('getCertifiedFile', bucket, path, [], key === undefined ? [] : [key]);

const record = { ok: expect.objectContaining({ path: 'in/a', size: 1_000n }) };

const lastReport = (kind: string) => lastReportOf(reports, 'getCertifiedFile', kind);

describe('getCertifiedFile', () => {
  test('answers members and keys that may read, by an update', async () => {
    const reader = personOf(service, 31);
    const addMembers = [[{ principal: reader.principal, role: 'reader' }]];
    await owner.get('updateBucket', changeOf('secret', { addMembers }));
    expect(await ask(owner, 'secret')).toEqual(record);
    expect(await ask(reader, 'secret')).toEqual(record);
    for (const bucket of ['secret', 'open']) {
      expect(await ask(nobody, bucket, await keyOf(['read']))).toEqual(record);
      expect(await ask(nobody, bucket, await keyOf(['read'], { prefix: ['in/'] }))).toEqual(record);
    }
    expect(Number(lastReport('update').instructions)).toBeLessThan(instructionsMax);
    expect(Number(lastReport('inspect').instructions)).toBeLessThan(instructionsMax);
    printCost('record', lastReport('update'));
  });

  test('refuses strangers, also in a public bucket, whose files getFile shows to all', async () => {
    const stranger = personOf(service, 32);
    for (const person of [stranger, nobody]) {
      expect(await ask(person, 'secret')).toEqual(refusedAs('NoSuchBucket'));
      expect(await person.ask('getFile', 'open', 'in/a', [])).toEqual(record);
      expect(await ask(person, 'open')).toEqual({ err: expect.any(String) });
    }
    const write = await keyOf(['write']);
    expect(await ask(nobody, 'secret', write)).toEqual(refusedAs('AccessDenied'));
    const elsewhere = await keyOf(['read'], { prefix: ['out/'] });
    expect(await ask(nobody, 'secret', elsewhere)).toEqual(refusedAs('AccessDenied'));
    expect(await ask(owner, 'secret', undefined, 'none')).toEqual(refusedAs('NoSuchFile'));
  });

  test('is refused by the inspection, at no cost, once the budget of refusals is empty', async () => {
    await withoutRefusals(owner, async () => {
      const before = reports.length;
      expect(await ask(nobody, 'open')).toEqual({ err: expect.any(String) });
      expect(reports.slice(before).map(({ kind }) => kind)).toEqual(['inspect']);
    });
    printCost('refusal by the inspection', lastReport('inspect'));
  });

  test('takes one update from the budget of a key', async () => {
    const key = await keyOf(['read'], { updatesPerHour: [2n] });
    expect(await ask(nobody, 'secret', key)).toEqual(record);
    expect(await ask(nobody, 'secret', key)).toEqual(record);
    expect(await ask(nobody, 'secret', key)).toEqual(refusedAs('SlowDown'));
  });
});
