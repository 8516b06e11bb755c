// The bucket's mode as an update, whose reply the network signs: who may call it, and its cost.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { MessageReport } from '../../packages/replica/src/core.ts';
import { lastReportOf, printCost, refusedAs, withoutRefusals } from '../support/method-reports.ts';
import { changeOf, keyFor, type Person, personOf } from '../support/people.ts';
import { instructionsMax } from '../support/refusal-checks.ts';
import { openService, type Service } from '../support/service.ts';

const recipient = `age1${'q'.repeat(58)}`;
const reports: MessageReport[] = [];
let service: Service;
let owner: Person;
let nobody: Person;

beforeAll(async () => {
  service = await openService({ onReport: (report) => void reports.push(report) });
  owner = personOf(service, 'owner');
  nobody = personOf(service, 'nobody');
  await owner.get('createBucket', 'safe', [{ endToEnd: [{ recipients: [[recipient]] }] }]);
  await owner.get('createBucket', 'plain', []);
});

afterAll(() => service?.stop());

interface Mode {
  readonly endToEnd: readonly object[];
}

const sealed = {
  ok: {
    endToEnd: [
      {
        usesVetKeys: true,
        sealsNames: false,
        recipients: [recipient],
        serial: expect.any(BigInt),
        epochs: [{ epoch: 1n, recipient: [], openedAt: expect.any(BigInt) }],
      },
    ],
  },
};

async function keyOf(permissions: string[], fields: object = {}): Promise<string> {
  const request = { ...keyFor(['safe', 'plain'], permissions), ...fields };
  return (await owner.get<{ secret: string }>('createApiKey', request)).secret;
}

const ask = (person: Person, bucket: string, key?: string) =>
  person.ask<Mode>('getBucketMode', bucket, key === undefined ? [] : [key]);

const lastReport = (kind: string) => lastReportOf(reports, 'getBucketMode', kind);

describe('getBucketMode', () => {
  test('answers members and keys, by an update', async () => {
    const reader = personOf(service, 31);
    const addMembers = [[{ principal: reader.principal, role: 'reader' }]];
    await owner.get('updateBucket', changeOf('safe', { addMembers }));
    expect(await ask(owner, 'safe')).toEqual(sealed);
    expect(await ask(reader, 'safe')).toEqual(sealed);
    for (const key of [
      await keyOf(['write'], { prefix: ['in/'] }),
      await keyOf(['write']),
      await keyOf(['read']),
    ]) {
      const before = reports.length;
      expect(await ask(nobody, 'safe', key)).toEqual(sealed);
      expect(await ask(nobody, 'plain', key)).toEqual({ ok: { endToEnd: [] } });
      const own = reports.slice(before).filter(({ method }) => method === 'getBucketMode');
      const kinds = own.map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind === 'update')).toHaveLength(2);
      expect(kinds).not.toContain('query');
    }
  });

  test('refuses callers without a right, as if the bucket did not exist', async () => {
    const stranger = personOf(service, 32);
    for (const person of [stranger, nobody]) {
      expect(await ask(person, 'safe')).toEqual(refusedAs('NoSuchBucket'));
      expect(await ask(person, 'none')).toEqual(refusedAs('NoSuchBucket'));
    }
    expect(await ask(nobody, 'safe', 'efs_x')).toEqual(refusedAs('InvalidApiKey'));
    expect(await ask(nobody, 'safe', service.apiKey)).toEqual(refusedAs('AccessDenied'));
    expect(await ask(nobody, 'no bucket', service.apiKey)).toEqual(refusedAs('InvalidBucketId'));
    for (const key of [await keyOf(['read'], { prefix: ['in/'] }), await keyOf(['delete'])]) {
      expect(await ask(nobody, 'safe', key)).toEqual(refusedAs('AccessDenied'));
    }
  });

  test('takes one update from the budget of a key, also of a key that only reads', async () => {
    for (const permissions of [['write'], ['read']]) {
      const key = await keyOf(permissions, { updatesPerHour: [2n] });
      expect(await ask(nobody, 'safe', key)).toEqual(sealed);
      expect(await ask(nobody, 'safe', key)).toEqual(sealed);
      expect(await ask(nobody, 'safe', key)).toEqual(refusedAs('SlowDown'));
    }
  });

  test('is refused by the inspection, at no cost, once the budget of refusals is empty', async () => {
    await ask(nobody, 'none');
    const accepted = lastReport('update');
    await withoutRefusals(owner, async () => {
      const before = reports.length;
      expect(await ask(nobody, 'none')).toEqual(refusedAs('NoSuchBucket'));
      expect(reports.slice(before).map(({ kind }) => kind)).toEqual(['inspect']);
    });
    const inspected = lastReport('inspect');
    for (const { instructions } of [accepted, inspected]) {
      expect(Number(instructions)).toBeLessThan(instructionsMax);
    }
    printCost('refusal by the method', accepted);
    printCost('refusal by the inspection', inspected);
  });

  test('costs less than the limit of a refusal, with one epoch and with ten', async () => {
    const key = await keyOf(['write']);
    await ask(nobody, 'plain', key);
    printCost('ordinary bucket', lastReport('update'));
    await ask(nobody, 'safe', key);
    printCost('one epoch', lastReport('update'));
    for (let epoch = 2; epoch <= 10; epoch += 1) await owner.get('rotateBucketIdentity', 'safe');
    expect((await ask(nobody, 'safe', key)).ok).toMatchObject({
      endToEnd: [{ epochs: [{ epoch: 10n }] }],
    });
    printCost('ten epochs', lastReport('update'));
    expect(Number(lastReport('update').instructions)).toBeLessThan(instructionsMax);
    expect(Number(lastReport('inspect').instructions)).toBeLessThan(instructionsMax);
  });
});
