// `efs mirror` to S3 with former versions, moves, damage and interruptions.

import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { describe, expect, test } from 'vitest';
import { ownerKey } from '../s3/support/s3-server.ts';
import { sampleBytes } from '../support/service.ts';
import { callCommand } from './command-calls.ts';
import { startCommand } from './command-runs.ts';
import {
  bucket,
  client,
  environment,
  expectEqual,
  folder,
  mirror,
  openMirrorToS3,
  owner,
  s3Server,
  store,
  text,
} from './mirror-to-s3.ts';
import { eraseAndRestore } from './mirrored-buckets.ts';

openMirrorToS3();

describe('efs mirror --to s3://', () => {
  test('stores files with type, tags, metadata and versions, and then changes', async () => {
    const metadata = { camera: 'X100' };
    await store('a.txt', text('one'), { contentType: 'text/x-one', tags: ['t', 's=1'], metadata });
    await store('a.txt', text('two'), { tags: ['u'] });
    await store('b c/ü&+.bin', sampleBytes('mid', 2_500_000));
    await store('large.bin', sampleBytes('large', 18_000_000));
    await store('chunked.bin', sampleBytes('chunked', 90_000), { chunkBytes: 65_536 });
    await store('empty', new Uint8Array());
    await store('gone.txt', text('gone'));
    await owner.remove({ bucket, path: 'gone.txt' });
    const first = await mirror('--once');
    expect(first).toMatchObject({ code: 0, errors: '7 stored, 0 changed, 1 removed, 0 erased.\n' });
    expect(first.output).toContain(`/${bucket}/copy/large.bin\n`);
    await expectEqual();
    expect((await mirror('--once')).errors).toBe('0 stored, 0 changed, 0 removed, 0 erased.\n');

    await owner.change({ bucket, path: 'a.txt' }, { tags: ['v'], contentType: 'text/x-two' });
    await owner.move({ bucket, path: 'large.bin' }, { path: 'b/large.bin' });
    await owner.remove({ bucket, path: 'chunked.bin' });
    await store('new.txt', text('new'));
    await store('new.txt', text('newer'));
    const second = await mirror('--once');
    // The large file is copied within the store.
    expect(second.errors).toBe('2 stored, 1 changed, 1 removed, 1 erased.\n');
    await expectEqual();
  });

  test('erases and restores versions as the source did', async () => {
    await eraseAndRestore(owner, bucket, async () => {
      await mirror('--once');
      await expectEqual();
    });
  });

  test('sends nothing again without its state, and repairs what others changed', async () => {
    await store('a', text('a'));
    await store('large', sampleBytes('large', 9_000_000));
    await mirror('--once');
    const states = join(folder, 'state/efs');
    await rm(states, { recursive: true });
    expect((await mirror('--once')).errors).toBe('0 stored, 0 changed, 0 removed, 0 erased.\n');
    const names = await readdir(states);
    const written = await Promise.all(names.map((name) => readFile(join(states, name), 'utf8')));
    expect(written.join()).toContain(`/${bucket}/copy/`);
    expect(written.join()).not.toContain(ownerKey.accessKeyId);
    expect(written.join()).not.toContain(ownerKey.secretAccessKey);
    await s3Server.storage.remove({ bucket, path: 'copy/a' });
    await rm(states, { recursive: true });
    expect((await mirror('--once')).code).toBe(0);
    await expectEqual();
  });

  test('aborts unfinished uploads that an earlier run left', async () => {
    const Key = 'copy/large';
    await client.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key }));
    await client.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key: `${Key}-2` }));
    await store('large', sampleBytes('large', 9_000_000));
    expect(await mirror('--once')).toMatchObject({ code: 0 });
    const left = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
    expect(left.Uploads?.map((one) => one.Key)).toEqual([`${Key}-2`]);
    await expectEqual();
  });

  test('--verify compares digests, and --bytes what the store really has', async () => {
    await store('same', text('same'));
    await store('same', text('same again'));
    await store('large', sampleBytes('large', 9_000_000));
    await mirror('--once');
    const equal = await mirror('--verify');
    expect(equal).toMatchObject({ code: 0, errors: '' });
    expect(equal.output).toContain('2 files and 1 former versions have the same digests');
    expect(equal.output).toMatch(/computed \d of the digests.* stated \d: --verify --bytes/);
    const read = await mirror('--verify', '--bytes');
    expect(read.output).toContain('The bytes of all of them were downloaded and compared.');

    // The mark of one object lies about other bytes, as after damage in the store.
    const { storage } = s3Server;
    const { metadata = {} } = await storage.stat({ bucket, path: 'copy/large' });
    const Metadata = { 'efs-mirror': metadata['efs-mirror'] ?? '' };
    await storage.versions.erase({ bucket, path: 'copy/large' });
    await storage.remove({ bucket, path: 'copy/large' });
    await storage.versions.erase({ bucket, path: 'copy/large' });
    const Body = sampleBytes('other', 9_000_000);
    const object = { Bucket: bucket, Key: 'copy/large', Body, Metadata };
    await client.send(new PutObjectCommand(object));
    expect((await mirror('--verify')).code).toBe(0);
    const damaged = await mirror('--verify', '--bytes');
    expect(damaged).toMatchObject({ code: 8 });
    expect(damaged.output).toMatch(/^large: the bytes of its version of .* differ/);
    expect(await mirror('--once', '--bytes')).toMatchObject({ code: 2 });
  });

  test('mirrors an end-to-end bucket as it is stored', async () => {
    const sealed = `sealed-${bucket}`;
    await owner.buckets.create(sealed, { endToEnd: {} });
    await owner.upload(text('a secret'), { bucket: sealed, path: 'letter.txt' });
    const words = ['mirror', sealed, '--to', `s3://${bucket}/sealed`, '--once'];
    const done = await callCommand(words, { folder, environment: environment() });
    expect(done).toMatchObject({ code: 0 });
    const copy = await s3Server.storage.download({ bucket, path: 'sealed/letter.txt' });
    expect(Buffer.from(await copy.bytes()).toString('latin1')).toContain('age-encryption.org/v1');
  });

  test('follows changes until it is interrupted', async () => {
    await store('a', text('a'));
    const words = ['mirror', bucket, '--to', `s3://${bucket}/copy`];
    const run = startCommand(words, { folder, environment: environment() });
    const isThere = async (path: string) => {
      const name = { bucket, path: `copy/${path}` };
      const find = () => s3Server.storage.stat(name).catch(() => 'none');
      await expect.poll(find, { timeout: 30_000 }).not.toBe('none');
    };
    await isThere('a');
    await store('b', text('b'));
    await isThere('b');
    run.process.kill('SIGINT');
    expect(await run.ended).toMatchObject({ code: 0, errors: expect.not.stringContaining('Warn') });
    await expectEqual();
  });
});
