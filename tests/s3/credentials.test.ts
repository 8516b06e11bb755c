import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CredentialsError, CredentialsFile } from '../../packages/s3/src/credentials.ts';

const freshPath = () => join(mkdtempSync(join(tmpdir(), 'efs-s3-')), 'efs', 's3-credentials.json');

function written(text: string, mode = 0o600): CredentialsFile {
  const path = join(mkdtempSync(join(tmpdir(), 'efs-s3-')), 'keys.json');
  writeFileSync(path, text);
  chmodSync(path, mode);
  return new CredentialsFile(path);
}

test('CredentialsFile: a created access key is found by any reader of the file until it is removed', async () => {
  const path = freshPath();
  const [one, other] = [new CredentialsFile(path), new CredentialsFile(path)];
  expect(await other.list()).toEqual([]);
  expect(await other.find('EFS')).toBeUndefined();
  const access = { apiKey: 'efs_secret', url: 'http://localhost:4943' };
  const made = [await one.create({ profile: 'home' }), await one.create(access)];
  for (const { accessKeyId, secretAccessKey } of made) {
    expect(accessKeyId).toMatch(/^[A-Z2-7]{20}$/);
    expect(secretAccessKey).toMatch(/^[A-Za-z0-9+/]{40}$/);
  }
  const [first, second] = made;
  expect(await other.find(second?.accessKeyId ?? '')).toEqual(second);
  expect(await one.remove(first?.accessKeyId ?? '')).toBe(true);
  expect(await one.remove(first?.accessKeyId ?? '')).toBe(false);
  expect(await other.find(first?.accessKeyId ?? '')).toBeUndefined();
  expect(await other.list()).toEqual([{ accessKeyId: second?.accessKeyId, access }]);
});

test('CredentialsFile: only its user can read the file, and it is never incomplete', async () => {
  const path = freshPath();
  const { secretAccessKey } = await new CredentialsFile(path).create({ profile: 'home' });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
  expect(readdirSync(join(path, '..'))).toEqual(['s3-credentials.json']);
  expect(JSON.parse(readFileSync(path, 'utf8')).accessKeys[0]).toMatchObject({ secretAccessKey });
});

test('CredentialsFile: a list of access keys contains no secret', async () => {
  const file = new CredentialsFile(freshPath());
  const { secretAccessKey } = await file.create({ profile: 'home' });
  expect(JSON.stringify(await file.list())).not.toContain(secretAccessKey);
});

test.runIf(process.platform !== 'win32')(
  'CredentialsFile: a file that others can read is refused',
  async () => {
    const file = written('{"version":1,"accessKeys":[]}', 0o640);
    await expect(file.find('EFS')).rejects.toThrow(CredentialsError);
    await expect(file.create({ profile: 'home' })).rejects.toThrow('chmod 600');
  },
);

test('CredentialsFile: a file that is damaged or of a later version is left unchanged', async () => {
  const key = '{"accessKeyId":"A","secretAccessKey":"B","access":{"apiKey":"C"}}';
  for (const text of ['', 'null', '[]', '{"version":1}', `{"version":1,"accessKeys":[${key}]}`]) {
    await expect(written(text).create({ profile: 'home' }), text).rejects.toThrow('damaged');
  }
  const later = written('{"version":2,"accessKeys":{}}');
  await expect(later.find('EFS')).rejects.toThrow('later version');
});
