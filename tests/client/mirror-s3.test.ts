// `efs mirror` to S3: its rules for the objects of others, and its refusals.

import { describe, expect, test } from 'vitest';
import { storeFailure } from '../../packages/efs/src/mirror/s3/s3-failures.ts';
import { apiKey, openS3Server, ownerKey } from '../s3/support/s3-server.ts';
import { callCommand } from './command-calls.ts';
import {
  bucket,
  environment,
  expectEqual,
  folder,
  mirror,
  mirrorTo,
  openMirrorToS3,
  owner,
  put,
  s3Server,
  store,
  text,
  there,
} from './mirror-to-s3.ts';
import { collected } from './mirrored-buckets.ts';

openMirrorToS3();

describe('efs mirror --to s3://', () => {
  test('never changes objects that it did not store', async () => {
    await store('a', text('a'));
    await put('copy/b', 'not ours');
    const refused = await mirror('--once');
    expect(refused).toMatchObject({ code: 2, output: '' });
    expect(refused.errors).toContain('contains 1 objects that this mirror did not store');
    await s3Server.storage.remove({ bucket, path: 'copy/b' });
    await put('elsewhere', 'not below the prefix');
    expect(await mirror('--once')).toMatchObject({ code: 0 });

    await put('copy/b', 'not ours');
    await store('b', text('ours'));
    await store('c', text('c'));
    const inTheWay = await mirror('--once');
    expect(inTheWay).toMatchObject({ code: 5 });
    expect(inTheWay.errors).toContain('b is not mirrored: the S3 bucket has an object there');
    expect((await mirror('--verify')).output).toBe('b: the mirror did not store what is there\n');
    for (const path of ['b', 'c']) {
      await owner.remove({ bucket, path });
      await owner.versions.erase({ bucket, path });
    }
    expect(await mirror('--once')).toMatchObject({ code: 0 });
    const { storage } = s3Server;
    const there = await collected(storage.list({ bucket }));
    expect(there.map(({ path }) => path).sort()).toEqual(['copy/a', 'copy/b', 'elsewhere']);
    const other = await storage.download({ bucket, path: 'copy/b' });
    expect(new TextDecoder().decode(await other.bytes())).toBe('not ours');
  });

  test('refuses the prefix of another mirror', async () => {
    await store('a', text('a'));
    await mirror('--once');
    const second = `${bucket}-second`;
    await owner.buckets.create(second);
    await owner.upload(text('b'), { bucket: second, path: 'b' });
    const words = ['mirror', second, '--to', `s3://${bucket}/copy/`, '--once'];
    const refused = await callCommand(words, { folder, environment: environment() });
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.errors).toContain('objects that this mirror did not store, such as "a"');
    await expectEqual();
  });

  test('without versions in S3 keeps the present version', async () => {
    const plain = `plain-${bucket}`;
    await s3Server.storage.buckets.create(plain);
    await store('a', text('one'));
    await store('a', text('two'), { tags: ['t'] });
    await store('b', text('b'));
    const once = () => mirrorTo(`s3://${plain}`, ['--once']);
    expect((await once()).errors).toBe('2 stored, 0 changed, 0 removed, 0 erased.\n');
    await owner.change({ bucket, path: 'a' }, { metadata: { Name: 'Zoë' } });
    await owner.remove({ bucket, path: 'b' });
    expect((await once()).errors).toBe('0 stored, 1 changed, 1 removed, 0 erased.\n');
    expect((await once()).errors).toBe('0 stored, 0 changed, 0 removed, 0 erased.\n');
    const [file, ...others] = await collected(s3Server.storage.list({ bucket: plain }));
    expect(others).toEqual([]);
    expect(file).toMatchObject({ path: 'a', size: 3, tags: ['t'] });
    expect(file?.metadata?.name).toBe('=?UTF-8?B?Wm/Dqw==?=');
  });

  test('says in one sentence what is wrong, and changes nothing', async () => {
    await store('a', text('a'));
    const refused = async (to: string, more: Record<string, string> = {}) => {
      const { code, errors, output } = await mirrorTo(to, ['--once'], more);
      expect(output).toBe('');
      expect(errors.trimEnd().split('\n')).toHaveLength(1);
      expect(errors).not.toContain(ownerKey.secretAccessKey);
      return `${code} ${errors}`;
    };
    const target = `s3://${bucket}/copy`;
    expect(await refused('s3:///copy')).toContain('names no S3 bucket');
    expect(await refused(target, { AWS_SECRET_ACCESS_KEY: '' })).toContain('needs the variables');
    expect(await refused(target, { AWS_SECRET_ACCESS_KEY: 'wrong' })).toMatch(
      /^4 .*does not accept the credentials \(SignatureDoesNotMatch\): correct AWS_ACCESS_KEY_ID/,
    );
    expect(await refused(target, { AWS_ACCESS_KEY_ID: 'AKIDNONE' })).toContain(
      'InvalidAccessKeyId',
    );
    expect(await refused('s3://missing/copy')).toMatch(/^3 .*missing does not exist at http/);
    const nobody = { AWS_ENDPOINT_URL: 'http://127.0.0.1:9' };
    expect(await refused(target, nobody)).toMatch(/^7 .*was not reached .*: check the endpoint/);
    expect(await refused(target, { AWS_ENDPOINT_URL_S3: 'nowhere' })).toContain('not an address');
    const secret = { AWS_ENDPOINT_URL_S3: 'http://me:secret@127.0.0.1:9' };
    expect(await refused(target, secret)).toContain('contains credentials');
    expect(await collected(s3Server.storage.list({ bucket }))).toEqual([]);
  });

  test('with credentials that may only read ends at the first refusal', async () => {
    await store('a', text('a'));
    await store('b', text('b'));
    const names = { buckets: [bucket], name: 'reader' };
    const permissions = ['read'] as const;
    const { secret } = await s3Server.storage.keys.create({ ...names, permissions });
    const server = await openS3Server({ ...there, apiKey: secret });
    const { accessKeyId, secretAccessKey } = apiKey;
    const reader = {
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_ENDPOINT_URL: server.url,
    };
    const refused = await mirrorTo(`s3://${bucket}/copy`, ['--once'], reader);
    await server.stop();
    expect(refused).toMatchObject({ code: 4, output: '' });
    expect(refused.errors).toMatch(
      /^[^\n]*The credentials may not .*: allow it, or use others[^\n]*\n$/,
    );
    expect(await collected(s3Server.storage.list({ bucket }))).toEqual([]);
    expect(await mirror('--once')).toMatchObject({ code: 0 });
    await expectEqual();
  });
});

test('storeFailure names the region that AWS names, and the action that is refused', () => {
  const where = { bucket: 'copies', region: 'us-east-1', endpoint: undefined };
  const sentence = (error: object) => storeFailure(error, where, 'store objects').message;
  const moved = { name: 'PermanentRedirect', $metadata: { httpStatusCode: 301 } };
  expect(sentence(moved)).toBe(
    'The S3 bucket copies is not in region us-east-1: set AWS_REGION to its region.',
  );
  const malformed = { name: 'AuthorizationHeaderMalformed', $metadata: { httpStatusCode: 400 } };
  expect(sentence({ ...malformed, Region: 'eu-central-1' })).toContain('which is eu-central-1.');
  const denied = { name: 'AccessDenied', $metadata: { httpStatusCode: 403 } };
  expect(sentence(denied)).toContain(
    'The credentials may not store objects in the S3 bucket copies',
  );
  const expired = { name: 'ExpiredToken', $metadata: { httpStatusCode: 400 } };
  expect(sentence(expired)).toContain('AWS does not accept the credentials (ExpiredToken)');
});
