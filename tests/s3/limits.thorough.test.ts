// Load and faults: bodies that are wrong, truncated, slow or refused, many concurrent requests, and
// a service that is down.

import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import {
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { piecesOf } from '../../packages/s3/src/incoming.ts';
import { Semaphore, SpareChunks } from '../../packages/s3/src/semaphore.ts';
import { type Place, Workers } from '../../packages/s3/src/workers.ts';
import { isSentUpdate } from '../support/method-reports.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { openS3Server, ownerKey, type TestS3Server } from './support/s3-server.ts';

let service: Service;
let s3Server: TestS3Server;
let client: S3Client;
const updates: string[] = [];
const Bucket = 'demo';
const large = sampleBytes('large', 6_000_000);

beforeAll(async () => {
  service = await openService({
    onReport: (report) => {
      if (isSentUpdate(report)) updates.push(report.method);
    },
  });
  s3Server = await openS3Server(service);
  client = s3Server.client(ownerKey, { requestChecksumCalculation: 'WHEN_REQUIRED' });
});
afterAll(async () => {
  await s3Server?.stop();
  await service?.stop();
});

const signed = (Key: string) => getSignedUrl(client, new PutObjectCommand({ Bucket, Key }));
const isMissing = (Key: string) =>
  expect(client.send(new HeadObjectCommand({ Bucket, Key }))).rejects.toMatchObject({
    name: 'NotFound',
  });
const openUploads = () => s3Server.storage.uploads.list({ bucket: Bucket });

describe('efs serve s3: a body', () => {
  test('that does not match its digest stores nothing and leaves no session', async () => {
    const ContentMD5 = Buffer.alloc(16).toString('base64');
    const wrong = new PutObjectCommand({ Bucket, Key: 'wrong', Body: large, ContentMD5 });
    await expect(client.send(wrong)).rejects.toMatchObject({ name: 'BadDigest' });
    await isMissing('wrong');
    await expect.poll(openUploads).toEqual([]);
  });

  test('whose sender disconnects stores nothing and leaves no session', async () => {
    const sending = httpRequest(await signed('cut'), {
      method: 'PUT',
      headers: { 'Content-Length': large.length },
    });
    sending.on('error', () => {});
    sending.write(large.subarray(0, 4_500_000));
    await expect.poll(openUploads).toHaveLength(1);
    sending.destroy();
    await expect.poll(openUploads).toEqual([]);
    await isMissing('cut');
    await expect.poll(() => s3Server.log.at(-2)).toMatch(/^PUT \/demo\/cut gone \d+ ms$/);
  });

  test('of a refused request is not read', async () => {
    const { port } = new URL(s3Server.url);
    const socket = connect(Number(port), '127.0.0.1');
    const head = ['PUT /demo/a HTTP/1.1', 'Host: a', 'Content-Length: 9', 'Expect: 100-continue'];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 403 /);
    expect(String(answer)).toContain('Connection: close');
    socket.destroy();
  });

  test('longer than an object may be is refused', async () => {
    const sending = httpRequest(await signed('long'), {
      method: 'PUT',
      headers: { 'Content-Length': 6 * 1_024 ** 3 },
    });
    sending.on('error', () => {});
    sending.write('begins');
    const [answer] = (await once(sending, 'response')) as [IncomingMessage];
    expect(answer.statusCode).toBe(400);
    expect(String((await once(answer, 'data'))[0])).toContain('<Code>EntityTooLarge</Code>');
    sending.destroy();
  });

  test('that arrives too slowly ends the connection', async () => {
    const ended: string[] = [];
    const server = createServer(async (incoming) => {
      try {
        for await (const _ of piecesOf(incoming, { begin: () => {}, waitMsMax: 100 }));
      } catch (error) {
        ended.push((error as { code: string }).code);
      }
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const sending = httpRequest({ port, method: 'PUT', headers: { 'Content-Length': 9 } });
    sending.on('error', () => {});
    sending.write('a');
    const drip = setInterval(() => sending.write('a'), 40);
    await expect.poll(() => ended).toEqual(['RequestTimeout']);
    clearInterval(drip);
    server.close();
  });
});

test('efs serve s3: stalled bodies do not delay other requests', async () => {
  const halting = await Promise.all(
    Array.from({ length: 6 }, async (_, index) => {
      const headers = { 'Content-Length': large.length };
      const sending = httpRequest(await signed(`halting-${index}`), { method: 'PUT', headers });
      sending.on('error', () => {});
      sending.write(large.subarray(0, 100_000));
      return sending;
    }),
  );
  await expect.poll(openUploads).not.toEqual([]);
  await client.send(new PutObjectCommand({ Bucket, Key: 'prompt', Body: large }));
  expect(
    halting.filter(({ closed }) => closed),
    'the stalled requests are still open',
  ).toEqual([]);
  for (const sending of halting) sending.destroy();
  await expect.poll(openUploads).toEqual([]);
  const ended = () => s3Server.log.filter((line) => /^PUT \/demo\/halting-\d gone /.test(line));
  await expect.poll(ended).toHaveLength(halting.length);
});

test('efs serve s3: a client that disconnects ends its download, and others are served', async () => {
  await client.send(new PutObjectCommand({ Bucket, Key: 'large', Body: large }));
  const url = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key: 'large' }));
  const asking = httpRequest(url).end();
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  await once(answer, 'readable');
  answer.destroy();
  const isGone = (line: string) => /^GET \/demo\/large gone \d+ ms$/.test(line);
  await expect.poll(() => s3Server.log.filter(isGone)).toHaveLength(1);
  const whole = await client.send(new GetObjectCommand({ Bucket, Key: 'large' }));
  const bytes = (await whole.Body?.transformToByteArray()) ?? new Uint8Array(0);
  expect(Buffer.compare(bytes, large)).toBe(0);
});

test('efs serve s3: small objects that arrive together take a few updates, and each has its own answer', async () => {
  updates.length = 0;
  const put = (Key: string, more: object = {}) =>
    client.send(new PutObjectCommand({ Bucket, Key, Body: Key, ...more }));
  const names = Array.from({ length: 40 }, (_, index) => `together/${index}`);
  const never = put('together/never', { IfMatch: '"x"' }).catch(({ name }) => name);
  await Promise.all([...names, 'together/0'].map((name) => put(name)));
  expect(await never).toBe('NoSuchKey');
  expect(updates.length).toBeLessThan(30);
  const list = new ListObjectsV2Command({ Bucket, Prefix: 'together/' });
  expect((await client.send(list)).KeyCount).toBe(40);
});

test('efs serve s3: an unreachable service is reported as SlowDown with Retry-After', async () => {
  const away = await openS3Server(
    { ...service, host: 'http://127.0.0.1:9' },
    {},
    { attemptsMax: 1 },
  );
  try {
    const url = await getSignedUrl(away.client(), new GetObjectCommand({ Bucket, Key: 'large' }));
    const answer = await fetch(url);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2']);
    expect(await answer.text()).toContain('<Code>SlowDown</Code>');
  } finally {
    await away.stop();
  }
});

test('efs serve s3: PUT with a key does not wait for 20 clients without a key that stop reading', async () => {
  const Key = 'unread';
  await s3Server.storage.buckets.create('shown', { isPublic: true });
  // More than the buffers of a connection hold
  const source = sampleBytes('unread', 10_000_000);
  await s3Server.storage.upload(source, { bucket: 'shown', path: Key, contentType: 'a/b' });
  const { port } = new URL(s3Server.url);
  let begun = 0;
  const readers = Array.from({ length: 20 }, () => {
    const reader = connect(Number(port), '127.0.0.1');
    reader.once('data', () => {
      begun += 1;
      reader.pause();
    });
    reader.on('error', () => {});
    reader.write('GET /shown/unread HTTP/1.1\r\nHost: x\r\n\r\n');
    return reader;
  });
  // The admitted readers have received data until the buffers of their connections were full.
  await expect.poll(() => begun).toBe(8);
  await client.send(new PutObjectCommand({ Bucket, Key, Body: 'a key is there' }));
  await client.send(new PutObjectCommand({ Bucket, Key: 'unread-large', Body: large }));
  const ended = () => s3Server.log.filter((line) => line.startsWith('GET /shown/unread '));
  expect(ended()).toEqual([]);
  for (const reader of readers) reader.destroy();
  await expect.poll(ended).toHaveLength(readers.length);
});

describe('efs serve s3: workers', () => {
  const { signal } = new AbortController();
  const share = { workingMax: 3, openMax: 4, waitingMax: 2 };
  const ofUnsigned = { workingMax: 1, openMax: 2, waitingMax: 1 };
  const open = () => new Workers({ workingMax: 4, ofEachKey: share, ofUnsigned });
  /** Returns whether the request has been admitted so far. */
  const isIn = (entering: Promise<unknown>) =>
    Promise.race([entering.then(() => true), new Promise((end) => setImmediate(end, false))]);

  test('leave places for other keys, and few for requests without a key', async () => {
    const workers = open();
    const [one, two, , four] = [1, 2, 3, 4].map(() => workers.enter('A', signal));
    await Promise.all([one, two]);
    expect(await isIn(four as Promise<Place>)).toBe(false);
    const unsigned = await workers.enter(undefined, signal);
    const [next, other] = [workers.enter(undefined, signal), workers.enter('B', signal)];
    expect(await isIn(other)).toBe(false);
    await expect(workers.enter(undefined, signal)).rejects.toMatchObject({ code: 'SlowDown' });
    (await one)?.leave();
    expect([await isIn(other), await isIn(four as Promise<Place>)]).toEqual([true, false]);
    (await two)?.leave();
    expect([await isIn(four as Promise<Place>), await isIn(next)]).toEqual([true, false]);
    unsigned.leave();
    unsigned.leave();
    expect(await isIn(next)).toBe(true);
  });

  test('are not occupied by requests that wait for a client, up to a limit', async () => {
    const workers = open();
    let read = () => {};
    const reads = new Promise<void>((resolve) => {
      read = resolve;
    });
    const waiting: Promise<void>[] = [];
    for (let count = 0; count < ofUnsigned.openMax; count += 1) {
      const place = await workers.enter(undefined, signal);
      waiting.push(place.waitOutside(reads).finally(() => place.leave()));
    }
    const third = workers.enter(undefined, signal);
    expect(await isIn(third)).toBe(false);
    for (let count = 0; count < share.workingMax; count += 1) await workers.enter('A', signal);
    read();
    await Promise.all(waiting);
    expect(await isIn(third)).toBe(true);
  });

  test('forget a request that is cancelled before or after it got a place', async () => {
    const workers = open();
    const controller = new AbortController();
    const place = await workers.enter(undefined, controller.signal);
    const queued = workers.enter(undefined, controller.signal);
    controller.abort(new Error('gone'));
    await expect(queued).rejects.toThrow('gone');
    await expect(place.waitOutside(Promise.resolve())).rejects.toThrow('gone');
    place.leave();
    (await workers.enter(undefined, signal)).leave();
  });
});

describe('efs serve s3: a semaphore', () => {
  const { signal } = new AbortController();

  test('admits entrants up to its limit, and waiting ones in their order', async () => {
    const gate = new Semaphore(2, 2);
    const inside: number[] = [];
    const enter = async (number: number) => {
      const leave = await gate.enter(signal);
      inside.push(number);
      return leave;
    };
    const all = [1, 2, 3, 4].map(enter);
    await expect(gate.enter(signal)).rejects.toMatchObject({ code: 'SlowDown' });
    expect(inside).toEqual([1, 2]);
    const leave = await all[1];
    leave?.();
    leave?.();
    await all[2];
    expect(inside).toEqual([1, 2, 3]);
    (await all[0])?.();
    await all[3];
    expect(inside).toEqual([1, 2, 3, 4]);
  });

  test('forgets an entrant that was cancelled', async () => {
    const gate = new Semaphore(1, 1);
    const leave = await gate.enter(signal);
    const controller = new AbortController();
    const gone = gate.enter(controller.signal);
    controller.abort(new Error('gone'));
    await expect(gone).rejects.toThrow('gone');
    const next = gate.enter(signal);
    leave();
    (await next)();
  });

  test('SpareChunks gives all spare chunks to the first transfer until it ends', () => {
    const lanes = new SpareChunks(3);
    const first = lanes.take();
    expect([first.count, lanes.take().count]).toEqual([4, 1]);
    first.giveBack();
    expect(lanes.take().count).toBe(4);
  });
});
