// Texts at /.well-known/: who may set them, which are accepted, and how they are stored.

import { beforeEach, describe, expect, test } from 'vitest';
import { listWellKnown, setWellKnown } from '../../src/domain/administration/well-known.ts';
import type { RefusalCode } from '../../src/domain/shared/refusal.ts';
import { callOf, createScene, expectRefusal, startNs } from '../support/domain-fixture.ts';
import type { MemoryStores } from '../support/memory-stores.ts';

let stores: MemoryStores;
const controller = callOf('controller');
const set = (name: string, body: string, contentType?: string) =>
  setWellKnown(stores, controller, { name, content: { body, contentType } });

beforeEach(async () => {
  ({ stores } = await createScene());
});

test('setWellKnown(): a text is set, replaced and removed without a change to the others', () => {
  set('ic-domains', 'files.example.org\n');
  set('ii-alternative-origins', '{"alternativeOrigins":[]}');
  set('matrix/client', '{}', 'application/json; charset=utf-8');
  set('ic-domains', 'docs.example.org\n');
  expect(listWellKnown(stores, controller)).toEqual([
    { name: 'ic-domains', contentType: 'text/plain; charset=utf-8', body: 'docs.example.org\n' },
    {
      name: 'ii-alternative-origins',
      contentType: 'application/json',
      body: '{"alternativeOrigins":[]}',
    },
    { name: 'matrix/client', contentType: 'application/json; charset=utf-8', body: '{}' },
  ]);
  for (const name of ['ii-alternative-origins', 'matrix/client', 'ic-domains', 'never-there']) {
    setWellKnown(stores, controller, { name });
  }
  expect(listWellKnown(stores, controller)).toEqual([]);
  expect(stores.meta.entries().filter(([key]) => /^wellKnown/.test(`${key}`))).toEqual([]);
});

test('setWellKnown(): the records keep their layout', () => {
  const call = { ...controller, nowNs: startNs };
  setWellKnown(stores, call, { name: 'security.txt', content: { body: 'Contact: a' } });
  const hex = (key: string) => Buffer.from(stores.meta.get(Buffer.from(key)) ?? []).toString('hex');
  const texts = (...parts: string[]) => Buffer.from(parts.join('\0')).toString('hex');
  expect(hex('wellKnown')).toBe(`01${texts('security.txt')}`);
  const time = Buffer.alloc(8);
  time.writeBigUInt64LE(startNs);
  const record = `01${time.toString('hex')}${texts('text/plain; charset=utf-8', 'Contact: a')}`;
  expect(hex('wellKnown/security.txt')).toBe(record);
});

describe('setWellKnown(): the call is refused and changes nothing if', () => {
  const refused = (code: RefusalCode, run: () => unknown) => expectRefusal(stores, code, run);

  test.each(['', '/', 'a/', '/a', 'a//b', 'a/b/c', '.', 'a/..', 'a b', 'ä', '<*>', 'a%2Fb', 'x\n'])(
    'the name is %j',
    (name) => {
      refused('InvalidPath', () => set(name, 'x'));
      refused('InvalidPath', () => setWellKnown(stores, controller, { name }));
    },
  );

  test('the name has more than 128 characters', () => {
    set('a'.repeat(128), 'x');
    refused('InvalidPath', () => set('a'.repeat(129), 'x'));
  });

  test('the text has more than 8,192 bytes, or a NUL', () => {
    set('a', 'ü'.repeat(4_096));
    refused('EntityTooLarge', () => set('a', `${'ü'.repeat(4_096)}a`));
    refused('EntityTooLarge', () => set('a', 'x'.repeat(8_193)));
    refused('InvalidArgument', () => set('a', 'a\0b'));
    refused('InvalidContentType', () => set('a', 'x', 'nonsense'));
  });

  test('there are sixteen names already', () => {
    for (let index = 0; index < 16; index++) set(`name-${index}`, 'x');
    refused('QuotaExceeded', () => set('one-more', 'x'));
    set('name-3', 'y');
    setWellKnown(stores, controller, { name: 'name-4' });
    set('one-more', 'x');
  });

  test.each(['alice', 'bob', 'anonymous'] as const)(
    'the caller is %s, who is not a controller',
    (person) => {
      const call = callOf(person);
      refused('AccessDenied', () => listWellKnown(stores, call));
      const content = { body: 'x' };
      refused('AccessDenied', () => setWellKnown(stores, call, { name: 'a', content }));
      refused('AccessDenied', () => setWellKnown(stores, call, { name: 'a' }));
    },
  );
});
