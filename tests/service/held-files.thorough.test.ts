// Random operations by every role and way against two buckets in compliance mode, one of which
// stores former versions. Nothing that is retained disappears or changes.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { formBody } from '../support/forms.ts';
import { changeOf, keyFor, type Person, personOf } from '../support/people.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import { seedOr } from '../support/seed.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';

const seed = seedOr(20_261_128);
const operationCount = Number(process.env.EFS_HOLD_OPERATIONS ?? 2_000);
const dayMs = 86_400_000;
const buckets = ['plain', 'kept'] as const;
const names = Array.from({ length: 8 }, (_, index) => `${index}`);
const folders = ['held/', 'free/'] as const;

interface Shown {
  readonly path: string;
  readonly version: bigint;
  readonly size: bigint;
  readonly retention: [] | [{ mode: [] | [string]; retainUntil: [] | [bigint]; hold: boolean }];
}

/** A version that must stay as it is. */
interface Held {
  readonly bucket: string;
  readonly record: Shown;
  readonly bytes: Uint8Array;
}

let service: Service;
let controller: Person;
const people = new Map<string, Person>();
const keys = new Map<string, string>();
const held = new Map<string, Held>();
const outcomes = new Map<string, { done: number; refused: number; heldBack: number }>();
const random = randomNumbers(seed);

function oneOf<T>(values: readonly T[]): T {
  return values[random(values.length)] ?? expect.fail('nothing to choose from');
}

beforeAll(async () => {
  service = await openService({});
  controller = personOf(service, 'owner');
  people.set('controller', controller);
  for (const [index, name] of ['owner', 'writer', 'reader', 'stranger'].entries()) {
    people.set(name, personOf(service, index + 1));
  }
  people.set('anonymous', personOf(service, 'nobody'));
  const members = ['owner', 'writer', 'reader'].map((role) => {
    return { principal: people.get(role)?.principal, role, name: [] };
  });
  const retention = [[{ prefix: ['held/'], mode: 'compliance', days: 30n }]];
  for (const bucket of buckets) {
    const keepVersionsDays = bucket === 'kept' ? [1n] : [];
    await controller.get('createBucket', bucket, [{ keepVersionsDays, retention }]);
    await controller.get('updateBucket', changeOf(bucket, { addMembers: [members] }));
  }
  const grants = [['read'], ['write'], ['delete'], ['retain'], ['write', 'delete']];
  for (const permissions of [...grants, ['read', 'write', 'delete', 'retain']]) {
    const request = keyFor(buckets, permissions);
    const { secret } = await controller.get<{ secret: string }>('createApiKey', request);
    keys.set(permissions.join('+'), secret);
  }
  for (const bucket of buckets) {
    for (const path of folders.flatMap((folder) => names.map((name) => folder + name))) {
      for (let version = 0; version < (bucket === 'kept' ? 2 : 1); version++) {
        await store(bucket, path, sampleBytes(`${bucket} ${path} ${version}`, 1 + random(3_000)));
      }
    }
  }
  const one = { bucketId: 'plain', path: 'free/0', mode: ['compliance'] };
  const until = BigInt(Date.now() + 40 * dayMs) * 1_000_000n;
  await controller.get('setRetention', { ...one, retainUntil: [until] });
}, 120_000);

afterAll(() => service?.stop());

const store = (bucketId: string, path: string, bytes: Uint8Array) =>
  controller.get('uploadFile', { bucketId, path, contentType: 'a/b', bytes });

/** Notes every version that is retained now. */
async function noteHeld(): Promise<void> {
  for (const bucket of buckets) {
    const present = await controller.get<{ items: Shown[] }>('listFolder', { bucketId: bucket });
    const former = await controller.get<{ items: Shown[] }>('listVersions', {
      bucketId: bucket,
      limit: [1_000n],
    });
    for (const { path, version, retention } of [...present.items, ...former.items]) {
      if (retention[0]?.mode[0] !== 'compliance') continue;
      const name = `${bucket} ${path} ${version}`;
      if (!held.has(name))
        held.set(name, { bucket, ...(await readVersion(bucket, path, version)) });
    }
  }
}

async function readVersion(bucket: string, path: string, version: bigint) {
  const record = await controller.get<Shown>('getVersion', bucket, path, version, []);
  const bytes = await controller.get<Uint8Array>(
    'readVersion',
    ...[bucket, path, version, 0n, record.size, []],
  );
  return { record, bytes };
}

interface Choice {
  readonly bucket: string;
  readonly other: string;
  readonly path: string;
  readonly target: string;
  readonly version: bigint;
  readonly bypass: [] | [boolean];
  readonly until: bigint;
}

function choose(): Choice {
  const place = () => oneOf(folders) + oneOf(names);
  return {
    bucket: oneOf(buckets),
    other: oneOf(buckets),
    path: place(),
    target: place(),
    version: BigInt(1 + random(6)),
    bypass: oneOf([[], [true], [false]]),
    until: BigInt(Date.now() + (random(3) === 0 ? 60 : 1) * dayMs) * 1_000_000n,
  };
}

const written = () => ({
  contentType: 'x/y',
  bytes: sampleBytes(`new ${random(1e6)}`, random(2_000)),
});

type Calls = Readonly<Record<string, (choice: Choice) => readonly unknown[]>>;

/** Calls of files; the sender or the field `apiKey` has the right. */
const fileCalls: Calls = {
  uploadFile: ({ bucket, path }) => [{ bucketId: bucket, path, ...written() }],
  uploadFiles: ({ bucket, path, target }) => [
    {
      bucketId: bucket,
      files: [...new Set([path, target])].map((name) => {
        const { contentType, bytes } = written();
        return { path: name, bytes, contentType: [contentType] };
      }),
    },
  ],
  deleteFiles: ({ bucket, path, bypass }) => [
    { bucketId: bucket, bypassGovernance: bypass, ...onePlace(path, 'paths') },
  ],
  copyFile: ({ bucket, other, path, target }) => [
    { bucketId: bucket, from: path, toBucketId: [other], to: target },
  ],
  moveFile: ({ bucket, other, path, target, bypass }) => [
    { bucketId: bucket, from: path, toBucketId: [other], to: target, bypassGovernance: bypass },
  ],
  moveFiles: ({ bucket, bypass }) => [
    {
      bucketId: bucket,
      fromPrefix: oneOf(['held/', 'held/1', 'free/2', 'moved/']),
      toPrefix: oneOf(['moved/', 'free/9', 'held/7']),
      bypassGovernance: bypass,
    },
  ],
  updateFile: ({ bucket, path }) => [{ bucketId: bucket, path, tags: [['t']] }],
  restoreVersion: ({ bucket, path, version }) => [{ bucketId: bucket, path, version }],
  eraseVersions: ({ bucket, path, version, bypass }) => [
    {
      bucketId: bucket,
      bypassGovernance: bypass,
      ...oneOf([{ path: [path], version: [version] }, { path: [path] }, { prefix: ['held/'] }]),
    },
  ],
  setRetention: ({ bucket, path, until, bypass }) => [
    {
      bucketId: bucket,
      path,
      bypassGovernance: bypass,
      ...oneOf([
        {},
        { mode: ['compliance'], retainUntil: [until] },
        { mode: ['governance'], retainUntil: [until] },
      ]),
    },
  ],
  setHold: ({ bucket, path }) => [{ bucketId: bucket, path, hold: random(4) === 0 }],
};

function onePlace(path: string, name: string) {
  return random(8) === 0 ? { prefix: [oneOf(folders)] } : { [name]: [[path]] };
}

/** Calls of the bucket, only for principals. */
const bucketCalls: Calls = {
  deleteFile: ({ bucket, path }) => [bucket, path, []],
  deleteBucket: ({ bucket }) => [bucket, [{ force: [true] }]],
  rotateBucketKey: ({ bucket }) => [bucket],
  updateBucket: ({ bucket }) => [
    changeOf(bucket, oneOf(bucket === 'kept' ? [...bucketChanges, ...daysChanges] : bucketChanges)),
  ],
};

const bucketChanges = [
  { retention: [[{ prefix: ['held/'], mode: 'compliance', days: 1n }]] },
  { retention: [[{ prefix: ['held/'], mode: 'governance', days: 30n }]] },
  { retention: [[{ prefix: ['held/'], mode: 'compliance', days: 30n }]] },
  { isPublic: [true], isSite: [true] },
  { isPublic: [false], isSite: [false] },
];
const daysChanges = [{ keepVersionsDays: [0n] }, { keepVersionsDays: [1n] }];

type Sent = readonly [method: string, address: string, body?: object | Uint8Array];

/** Requests over HTTP below the bucket's address. */
const requests: Readonly<Record<string, (choice: Choice) => Sent>> = {
  PUT: ({ path }) => ['PUT', `files/${path}`, sampleBytes(`put ${random(1e6)}`, random(2_000))],
  PATCH: ({ path }) => ['PATCH', `files/${path}`, { tags: ['p'] }],
  DELETE: ({ path, bypass }) => ['DELETE', `files/${path}${flag('?', bypass)}`],
  'POST delete': ({ path, bypass }) => [
    'POST',
    'delete',
    { ...oneOf([{ paths: [path] }, { prefix: path }]), bypassGovernance: bypass[0] },
  ],
  'POST files': ({ path }) => [
    'POST',
    'files',
    formBody([{ name: path, text: 'form' }], 'boundary'),
  ],
  'POST copy': ({ other, path, target }) => [
    'POST',
    'copy',
    { from: path, to: { bucket: other, path: target } },
  ],
  'POST move': ({ other, path, target, bypass }) => [
    'POST',
    'move',
    { from: path, to: { bucket: other, path: target }, bypassGovernance: bypass[0] },
  ],
  'POST move prefix': () => ['POST', 'move', { fromPrefix: 'held/', toPrefix: 'moved/' }],
  'POST restore': ({ path, version }) => ['POST', 'restore', { path, version: Number(version) }],
  'DELETE version': ({ path, version, bypass }) => [
    'DELETE',
    `versions/${path}?version=${version}${flag('&', bypass)}`,
  ],
  'DELETE versions': ({ bypass }) => ['DELETE', `versions?prefix=held/${flag('&', bypass)}`],
  'POST retention': ({ path, version, bypass }) => [
    'POST',
    'retention',
    { path, ...oneOf([{}, { version: Number(version) }]), bypassGovernance: bypass[0] },
  ],
  'POST hold': ({ path }) => ['POST', 'hold', { path, hold: false }],
};

function flag(before: string, [bypass]: Choice['bypass']): string {
  return bypass === undefined ? '' : `${before}bypassGovernance=${bypass}`;
}

function note(way: string, error: string | undefined): void {
  const seen = outcomes.get(way) ?? { done: 0, refused: 0, heldBack: 0 };
  if (error === undefined) seen.done += 1;
  else if (error.includes('FileHeld')) seen.heldBack += 1;
  else seen.refused += 1;
  outcomes.set(way, seen);
}

async function callOnce(): Promise<void> {
  const isOfFiles = random(4) > 0;
  const [name, argumentsOf] = oneOf(Object.entries(isOfFiles ? fileCalls : bucketCalls));
  const withKey = isOfFiles && random(2) === 0;
  const person = withKey ? people.get('anonymous') : oneOf([...people.values()]);
  const values = argumentsOf(choose());
  const key = withKey ? [oneOf([...keys.values()])] : [];
  const sent = isOfFiles ? values.map((value) => ({ ...(value as object), apiKey: key })) : values;
  const { err } = (await person?.ask(name, ...sent)) ?? expect.fail(name);
  note(name, err);
}

async function uploadOnce(): Promise<void> {
  const { bucket, path } = choose();
  const { contentType, bytes } = written();
  const person = oneOf([...people.values()]);
  const key = random(2) === 0 ? [] : [oneOf([...keys.values()])];
  const size = BigInt(bytes.length);
  const begun = await person.ask<string>('beginFileUpload', bucket, path, contentType, size, key);
  if (begun.ok === undefined) return note('session', begun.err);
  if (bytes.length > 0) await person.ask('uploadFileChunkIndexed', begun.ok, 0n, bytes);
  note('session', (await person.ask('completeFileUpload', begun.ok, key)).err);
}

async function requestOnce(): Promise<void> {
  const [name, requestOf] = oneOf(Object.entries(requests));
  const choice = choose();
  const [method, address, body] = requestOf(choice);
  const isBytes = body instanceof Uint8Array;
  const isForm = name === 'POST files';
  const type = isForm
    ? 'multipart/form-data; boundary=boundary'
    : isBytes
      ? 'a/b'
      : 'application/json';
  const response = await fetch(`${service.base}/api/v1/bucket/${choice.bucket}/${address}`, {
    method,
    headers: {
      Authorization: `Bearer ${oneOf([...keys.values()])}`,
      'Content-Type': type,
      'X-Bucket-Id': choice.bucket,
    },
    body: body === undefined ? null : isBytes ? (body as BodyInit) : JSON.stringify(body),
  });
  const text = await response.text();
  expect(response.status, text).not.toBe(500);
  note(name, response.ok ? undefined : text);
}

/** Requires every noted version as it was until its time; a retention may only be longer. */
async function requireHeld(nowMs = Date.now()): Promise<void> {
  const nowNs = BigInt(nowMs) * 1_000_000n;
  for (const { bucket, record, bytes } of held.values()) {
    if ((record.retention[0]?.retainUntil[0] ?? 0n) <= nowNs) continue;
    const now = await readVersion(bucket, record.path, record.version);
    const [was, is] = [record.retention[0], now.record.retention[0]];
    expect({ ...now.record, retention: [] }).toEqual({ ...record, retention: [] });
    expect(Buffer.compare(now.bytes, bytes)).toBe(0);
    expect(is?.mode).toEqual(['compliance']);
    expect(is?.retainUntil[0]).toBeGreaterThanOrEqual(was?.retainUntil[0] ?? 0n);
  }
}

test(`setRetention keeps every retained version through ${operationCount} operations, seed ${seed}`, async () => {
  await noteHeld();
  const first = held.size;
  expect(first).toBe(2 * names.length + names.length + 1);
  for (let count = 0; count < operationCount; count++) {
    await oneOf([callOnce, callOnce, callOnce, uploadOnce, requestOnce, requestOnce])();
    if (count % 250 === 249) {
      await requireHeld();
      await noteHeld();
    }
  }
  await requireHeld();
  console.log(`seed ${seed}: ${first} versions at first, ${held.size} at last`);
  console.log(JSON.stringify(Object.fromEntries(outcomes)));
  expect(held.size).toBeGreaterThan(first);
  const sums = (isHttp: boolean, kind: 'done' | 'heldBack') =>
    [...outcomes]
      .filter(([way]) => way in requests === isHttp)
      .reduce((sum, [, seen]) => sum + seen[kind], 0);
  for (const isHttp of [true, false]) {
    expect(sums(isHttp, 'done')).toBeGreaterThan(operationCount / 100);
    expect(sums(isHttp, 'heldBack')).toBeGreaterThan(operationCount / 200);
  }
  expect(outcomes.get('deleteBucket')?.done).toBe(0);
}, 600_000);

test('setRetention keeps former versions whose days are over', async () => {
  const { replica } = service;
  const count = async () => {
    const list = { bucketId: 'kept', limit: [1_000n] };
    return (await controller.get<{ items: Shown[] }>('listVersions', list)).items.length;
  };
  const before = await count();
  replica?.advanceTime(2n * BigInt(dayMs) * 1_000_000n);
  for (let turn = 0; turn < 30; turn++) await replica?.tick();
  await requireHeld(Date.now() + 2 * dayMs);
  expect(await count()).toBeLessThan(before);
}, 60_000);

test('deleteFile and uploadFile work as usual on what is not held', async () => {
  const owner = people.get('owner') ?? expect.fail();
  const path = 'other/file';
  for (const bucketId of buckets) {
    const sent = { bucketId, path, contentType: 'a/b' };
    await owner.get('uploadFile', { ...sent, bytes: Uint8Array.of(1) });
    await owner.get('uploadFile', { ...sent, bytes: Uint8Array.of(2) });
    await owner.get('moveFile', { bucketId, from: path, to: 'other/moved' });
    await owner.get('updateFile', { bucketId, path: 'other/moved', tags: [['t']] });
    await owner.get('deleteFile', bucketId, 'other/moved', []);
    await owner.get('eraseVersions', { bucketId, prefix: ['other/'] });
    const { items } = await owner.get<{ items: Shown[] }>('listVersions', {
      bucketId,
      prefix: ['other/'],
    });
    expect(items).toEqual([]);
  }
});
