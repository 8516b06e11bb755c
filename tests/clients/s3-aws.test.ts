// aws-cli: common commands of `aws s3`, and operations of `aws s3api`.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sampleBytes, sha256Hex } from '../support/service.ts';
import { expectFile } from './support/client-cases.ts';
import { buckets, openS3Process } from './support/s3-process.ts';

const s3 = openS3Process();
const large = sampleBytes('aws', 20_000_001);

async function aws(...words: string[]): Promise<string> {
  return (await s3.run('aws', ...words)).output.toString();
}

async function api(...words: string[]): Promise<Record<string, unknown>> {
  const said = await aws('s3api', ...words, '--output', 'json');
  return said === '' ? {} : JSON.parse(said);
}

async function refused(...words: string[]): Promise<string> {
  const { code, errors } = await s3.tryRun('aws', ...words);
  expect(code, errors).not.toBe(0);
  return errors;
}

async function write(name: string, bytes: Uint8Array | string): Promise<string> {
  const path = join(s3.folder, name);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, bytes);
  return path;
}

describe.each(buckets)('in bucket %s', (bucket) => {
  test('s3 cp uploads and downloads a file of three parts', async () => {
    const source = await write('film.bin', large);
    await aws('s3', 'cp', '--no-progress', source, `s3://${bucket}/films/film.bin`);
    const { bytes } = await s3.storage.download({ bucket, path: 'films/film.bin' });
    expect(sha256Hex(await bytes())).toBe(sha256Hex(large));
    await aws('s3', 'cp', '--no-progress', `s3://${bucket}/films/film.bin`, 'back.bin');
    await expectFile(join(s3.folder, 'back.bin'), large);
    const listed = await aws('s3', 'ls', `s3://${bucket}/films/`);
    if (bucket !== 'safe') expect(listed).toMatch(/ 20000001 film\.bin/);
    await aws('s3', 'mv', `s3://${bucket}/films/film.bin`, `s3://${bucket}/old/film 1+ä.bin`);
    expect(await aws('s3', 'ls', `s3://${bucket}/`)).toMatch(/PRE old\//);
    await aws('s3', 'rm', '--recursive', `s3://${bucket}/old`);
    expect((await s3.tryRun('aws', 's3', 'ls', `s3://${bucket}/old/`)).code).toBe(1);
  });

  test('a folder is synced there and back, and a second sync sends nothing', async () => {
    for (let index = 0; index < 40; index++) {
      await write(`tree/${index % 4}/${index}.txt`, `file ${index}`);
    }
    await aws('s3', 'sync', '--no-progress', 'tree', `s3://${bucket}/tree`);
    expect(await aws('s3', 'sync', '--no-progress', 'tree', `s3://${bucket}/tree`)).toBe('');
    await aws('s3', 'sync', '--no-progress', `s3://${bucket}/tree`, `copy-${bucket}`);
    const copied = await readFile(join(s3.folder, `copy-${bucket}`, '3', '39.txt'), 'utf8');
    expect(copied).toBe('file 39');
    await aws('s3', 'rm', '--recursive', `s3://${bucket}/tree`);
  });

  test('an object has its type, headers and metadata, and ranges of it can be read', async () => {
    const body = await write('letter.txt', 'Dear Anna');
    const place = ['--bucket', bucket, '--key', 'letter.txt'];
    const put = await api(
      'put-object',
      ...place,
      ...['--body', body, '--content-type', 'text/plain', '--cache-control', 'max-age=60'],
      ...['--metadata', 'author=me,page=1'],
    );
    const head = await api('head-object', ...place);
    expect(head.ETag).toBe(put.ETag);
    expect(head).toMatchObject({ ContentLength: 9, Metadata: { author: 'me', page: '1' } });
    if (bucket !== 'safe') {
      expect(head).toMatchObject({ ContentType: 'text/plain', CacheControl: 'max-age=60' });
    }
    await api('get-object', ...place, '--range', 'bytes=5-8', 'part.txt');
    expect(await readFile(join(s3.folder, 'part.txt'), 'utf8')).toBe('Anna');
    const copied = ['--bucket', bucket, '--key', 'copy.txt'];
    await api('copy-object', ...copied, '--copy-source', `${bucket}/letter.txt`);
    await api('get-object', ...copied, 'copy.txt');
    expect(await readFile(join(s3.folder, 'copy.txt'), 'utf8')).toBe('Dear Anna');
    const tags = 'TagSet=[{Key=colour,Value=blue}]';
    await api('put-object-tagging', ...place, '--tagging', tags);
    expect(await api('get-object-tagging', ...place)).toMatchObject({
      TagSet: [{ Key: 'colour', Value: 'blue' }],
    });
    await api('delete-object-tagging', ...place);
    expect(await api('get-object-tagging', ...place)).toMatchObject({ TagSet: [] });
    const presigned = (await aws('s3', 'presign', `s3://${bucket}/letter.txt`)).trim();
    const fetched = await fetch(presigned);
    expect([fetched.status, await fetched.text()]).toEqual([200, 'Dear Anna']);
    const files = 'Objects=[{Key=letter.txt},{Key=copy.txt},{Key=none.txt}]';
    const deleted = await api('delete-objects', '--bucket', bucket, '--delete', files);
    expect(deleted.Deleted).toHaveLength(3);
    expect((await s3.tryRun('aws', 's3api', 'head-object', ...place)).errors).toMatch(/404/);
  });

  test('list-objects and list-objects-v2 return pages, and the latter folders', async () => {
    for (const name of ['a', 'b/1', 'b/2', 'c']) {
      await api(
        'put-object',
        '--bucket',
        bucket,
        '--key',
        `list/${name}`,
        '--body',
        await write('x', name),
      );
    }
    const keysOf = ({ Contents = [] }: { Contents?: { Key: string }[] }) =>
      Contents.map(({ Key }) => Key);
    const where = ['--bucket', bucket, '--prefix', 'list/'];
    const all = ['list/a', 'list/b/1', 'list/b/2', 'list/c'];
    expect(keysOf(await api('list-objects-v2', ...where, '--page-size', '2'))).toEqual(all);
    expect(keysOf(await api('list-objects', ...where, '--page-size', '3'))).toEqual(all);
    const folders = await api('list-objects-v2', ...where, '--delimiter', '/');
    expect(keysOf(folders)).toEqual(['list/a', 'list/c']);
    expect(folders.CommonPrefixes).toEqual([{ Prefix: 'list/b/' }]);
    await aws('s3', 'rm', '--recursive', `s3://${bucket}/list`);
  });

  test('parts are uploaded one by one, listed and completed; another upload is aborted', async () => {
    const place = ['--bucket', bucket, '--key', 'parts.bin'];
    const { UploadId: id } = await api('create-multipart-upload', ...place);
    const upload = [...place, '--upload-id', String(id)];
    const first = await write('first', large.subarray(0, 5 * 2 ** 20));
    const second = await write('second', large.subarray(5 * 2 ** 20, 5 * 2 ** 20 + 10));
    const parts = [];
    for (const [number, body] of [
      ['2', second],
      ['1', first],
    ] as const) {
      const { ETag } = await api('upload-part', ...upload, '--part-number', number, '--body', body);
      parts.unshift({ ETag, PartNumber: Number(number) });
    }
    const listed = await api('list-parts', ...upload);
    expect(listed.Parts).toMatchObject([{ PartNumber: 1 }, { PartNumber: 2, Size: 10 }]);
    const uploads = await api('list-multipart-uploads', '--bucket', bucket);
    expect(uploads.Uploads).toMatchObject([{ Key: 'parts.bin', UploadId: id }]);
    const structure = await write('parts.json', JSON.stringify({ Parts: parts }));
    const done = await api(
      'complete-multipart-upload',
      ...upload,
      ...['--multipart-upload', `file://${structure}`],
    );
    expect(done.ETag).toMatch(/-\d+"$/);
    await api('get-object', ...place, 'parts.bin');
    await expectFile(join(s3.folder, 'parts.bin'), large.subarray(0, 5 * 2 ** 20 + 10));
    const { UploadId: other } = await api('create-multipart-upload', ...place);
    await api('abort-multipart-upload', ...place, '--upload-id', String(other));
    expect((await api('list-multipart-uploads', '--bucket', bucket)).Uploads ?? []).toEqual([]);
    await api('delete-object', ...place);
  });
});

test('buckets with and without versions are created, listed and removed', async () => {
  await aws('s3', 'mb', 's3://spring');
  const named = await api('list-buckets');
  expect(named.Buckets).toEqual(
    expect.arrayContaining(
      ['demo', 'safe', 'spring', 'vault'].map((Name) => expect.objectContaining({ Name })),
    ),
  );
  await api('head-bucket', '--bucket', 'spring');
  await api('get-bucket-location', '--bucket', 'spring');
  await api(
    'put-bucket-versioning',
    '--bucket',
    'spring',
    '--versioning-configuration',
    'Status=Enabled',
  );
  expect(await api('get-bucket-versioning', '--bucket', 'spring')).toMatchObject({
    Status: 'Enabled',
  });
  const place = ['--bucket', 'spring', '--key', 'a'];
  await api('put-object', ...place, '--body', await write('one', 'one'));
  await api('put-object', ...place, '--body', await write('two', 'two'));
  const versions = await api('list-object-versions', '--bucket', 'spring');
  expect(versions.Versions).toHaveLength(2);
  await api('get-object', ...place, '--version-id', '1', 'former');
  await expectFile(join(s3.folder, 'former'), Buffer.from('one'));
  const head = await api('head-object', ...place, '--version-id', '1');
  expect(head).toMatchObject({ VersionId: expect.stringMatching(/^1-/), ContentLength: 3 });
  const copied = ['--copy-source', 'spring/a?versionId=1'];
  const back = await api('copy-object', ...place, ...copied);
  expect(back).toMatchObject({
    VersionId: expect.stringMatching(/^3-/),
    CopySourceVersionId: head.VersionId,
  });
  await api('get-object', ...place, 'again');
  await expectFile(join(s3.folder, 'again'), Buffer.from('one'));
  expect(await refused('s3', 'rb', 's3://spring')).toMatch(/BucketNotEmpty/);
  // Former versions prevent the deletion of a bucket, as in S3.
  expect(await refused('s3', 'rb', '--force', 's3://spring')).toMatch(/3 former versions/);
  await aws('s3', 'mb', 's3://autumn');
  await aws('s3', 'cp', 'one', 's3://autumn/one');
  await aws('s3', 'rb', '--force', 's3://autumn');
  expect(await refused('s3api', 'head-bucket', '--bucket', 'autumn')).toMatch(/404|403/);
});

test('objects are locked in a bucket that was made for it', async () => {
  await api('create-bucket', '--bucket', 'vaulted', '--object-lock-enabled-for-bucket');
  const rule =
    '{"ObjectLockEnabled":"Enabled","Rule":{"DefaultRetention":{"Mode":"GOVERNANCE","Days":1}}}';
  const configuration = ['--object-lock-configuration', rule];
  await api('put-object-lock-configuration', '--bucket', 'vaulted', ...configuration);
  const place = ['--bucket', 'vaulted', '--key', 'a'];
  const until = new Date(Date.now() + 172_800_000).toISOString();
  const mode = ['--object-lock-mode', 'GOVERNANCE', '--object-lock-retain-until-date', until];
  const hold = ['--object-lock-legal-hold-status', 'ON'];
  await api('put-object', ...place, ...mode, ...hold, '--body', await write('one', 'one'));
  expect(await api('get-object-retention', ...place)).toEqual({
    Retention: { Mode: 'GOVERNANCE', RetainUntilDate: expect.stringContaining(until.slice(0, 19)) },
  });
  await aws('s3', 'rm', 's3://vaulted/a');
  const former = [...place, '--version-id', '1'];
  const bypass = '--bypass-governance-retention';
  expect(await refused('s3api', 'delete-object', ...former, bypass)).toMatch(/AccessDenied/);
  await api('put-object-legal-hold', ...former, '--legal-hold', 'Status=OFF');
  expect(await refused('s3api', 'delete-object', ...former)).toMatch(/AccessDenied/);
  await api('delete-object', ...former, bypass);
  await aws('s3', 'rb', 's3://vaulted');
});

test('invalid names, bucket policies and public ACLs are refused with an error', async () => {
  expect(await refused('s3', 'mb', 's3://my.bucket')).toMatch(/InvalidBucketName.*A-Z/s);
  expect(await refused('s3api', 'get-bucket-policy', '--bucket', 'demo')).toMatch(
    /NotImplemented|NoSuch/,
  );
  const acl = ['--bucket', 'demo', '--key', 'x', '--acl', 'public-read'];
  expect(await refused('s3api', 'put-object', ...acl)).toMatch(/NotImplemented/);
});
