// boto3 with its defaults: checksums in trailers, multipart uploads, pages; lifecycles and Object Lock.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectDir } from '../tidy/source-tree.ts';
import { buckets, openS3Process } from './support/s3-process.ts';

const s3 = openS3Process();

const program = `
import hashlib, io, sys
import boto3
from botocore.exceptions import ClientError
bucket = sys.argv[1]
s3 = boto3.client('s3')
large = bytes(range(256)) * 78_125
s3.upload_fileobj(io.BytesIO(large), bucket, 'boto/large.bin')
back = io.BytesIO()
s3.download_fileobj(bucket, 'boto/large.bin', back)
assert hashlib.sha256(back.getvalue()).digest() == hashlib.sha256(large).digest()
put = s3.put_object(Bucket=bucket, Key='boto/small.txt', Body=b'small', Metadata={'a': 'b'})
if bucket != 'safe':
    assert put['ETag'] == '"' + hashlib.md5(b'small').hexdigest() + '"', put
got = s3.get_object(Bucket=bucket, Key='boto/small.txt')
assert got['Body'].read() == b'small' and got['Metadata'] == {'a': 'b'}, got
for index in range(25):
    s3.put_object(Bucket=bucket, Key=f'boto/page/{index:03}', Body=b'%d' % index, ChecksumAlgorithm='SHA256')
pages = s3.get_paginator('list_objects_v2').paginate(Bucket=bucket, Prefix='boto/page/', PaginationConfig={'PageSize': 10})
names = [item['Key'] for page in pages for item in page.get('Contents', [])]
assert names == [f'boto/page/{index:03}' for index in range(25)], names
try:
    s3.put_object(Bucket=bucket, Key='boto/small.txt', Body=b'x', IfNoneMatch='*')
    raise AssertionError('it was replaced')
except ClientError as error:
    assert error.response['Error']['Code'] == 'PreconditionFailed', error
try:
    s3.get_object(Bucket=bucket, Key='boto/none')
    raise AssertionError('it is there')
except s3.exceptions.NoSuchKey:
    pass
url = s3.generate_presigned_url('put_object', Params={'Bucket': bucket, 'Key': 'boto/signed'})
import urllib.request
urllib.request.urlopen(urllib.request.Request(url, data=b'signed', method='PUT'))
assert s3.get_object(Bucket=bucket, Key='boto/signed')['Body'].read() == b'signed'
kept = bucket + 'Kept'
first, second = [s3.put_object(Bucket=kept, Key='a', Body=body)['VersionId'] for body in (b'one', b'second')]
s3.delete_object(Bucket=kept, Key='a')
for version, body in ((first, b'one'), (second, b'second')):
    got = boto3.resource('s3').ObjectVersion(kept, 'a', version).get()
    assert got['Body'].read() == body and got['VersionId'] == version, got
listed = s3.list_object_versions(Bucket=kept)['Versions']
assert [(item['VersionId'], item['Size']) for item in listed] == [(second, 6), (first, 3)], listed
resource = boto3.resource('s3').Bucket(bucket)
resource.objects.filter(Prefix='boto/').delete()
assert list(resource.objects.filter(Prefix='boto/')) == []
print('done')
`;

test.each(buckets)('boto3 stores, reads, lists and removes in bucket %s', async (bucket) => {
  const path = join(s3.folder, 'program.py');
  await writeFile(path, program);
  const { endToEnd } = await s3.storage.buckets.get(bucket);
  const sealed = endToEnd ? { endToEnd: {} } : {};
  await s3.storage.buckets.create(`${bucket}Kept`, { keepVersionsDays: 1, ...sealed });
  expect((await s3.run('python3', path, bucket)).output.toString()).toBe('done\n');
});

const locks = `
import datetime, io, sys
import boto3
from botocore.exceptions import ClientError
bucket = sys.argv[1]
s3 = boto3.client('s3')

def refused(code, call, **arguments):
    try:
        call(Bucket=bucket, **arguments)
    except ClientError as error:
        assert error.response['Error']['Code'] == code, error
        return
    raise AssertionError('it was not refused')

def after(days):
    now = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
    return now + datetime.timedelta(days=days)

refused('NoSuchLifecycleConfiguration', s3.get_bucket_lifecycle_configuration)
rules = [
    {'ID': 'logs', 'Status': 'Enabled', 'Filter': {'Prefix': ''}, 'Expiration': {'Days': 30}},
    {'ID': 'old', 'Status': 'Disabled', 'Filter': {'Prefix': ''},
     'NoncurrentVersionExpiration': {'NoncurrentDays': 7},
     'AbortIncompleteMultipartUpload': {'DaysAfterInitiation': 2}},
]
s3.put_bucket_lifecycle_configuration(Bucket=bucket, LifecycleConfiguration={'Rules': rules})
found = s3.get_bucket_lifecycle_configuration(Bucket=bucket)['Rules']
assert found == rules, found
newer = {'NoncurrentDays': 7, 'NewerNoncurrentVersions': 3}
refused('NotImplemented', s3.put_bucket_lifecycle_configuration,
        LifecycleConfiguration={'Rules': [{**rules[0], 'NoncurrentVersionExpiration': newer}]})
s3.delete_bucket_lifecycle(Bucket=bucket)

assert s3.get_bucket_versioning(Bucket=bucket)['Status'] == 'Enabled'
default = {'ObjectLockEnabled': 'Enabled',
           'Rule': {'DefaultRetention': {'Mode': 'GOVERNANCE', 'Days': 3}}}
s3.put_object_lock_configuration(Bucket=bucket, ObjectLockConfiguration=default)
found = s3.get_object_lock_configuration(Bucket=bucket)['ObjectLockConfiguration']
assert found == default, found
version = s3.put_object(Bucket=bucket, Key='a', Body=b'one')['VersionId']
head = s3.head_object(Bucket=bucket, Key='a')
assert head['ObjectLockMode'] == 'GOVERNANCE', head
longer = {'Mode': 'GOVERNANCE', 'RetainUntilDate': after(9)}
s3.put_object_retention(Bucket=bucket, Key='a', Retention=longer)
assert s3.get_object_retention(Bucket=bucket, Key='a')['Retention'] == longer
shorter = {'Mode': 'GOVERNANCE', 'RetainUntilDate': after(1)}
refused('AccessDenied', s3.put_object_retention, Key='a', Retention=shorter)
s3.put_object_retention(Bucket=bucket, Key='a', Retention=shorter, BypassGovernanceRetention=True)
s3.put_object_legal_hold(Bucket=bucket, Key='a', LegalHold={'Status': 'ON'})
s3.put_object(Bucket=bucket, Key='a', Body=b'second')
s3.delete_object(Bucket=bucket, Key='a')
one = {'Key': 'a', 'VersionId': version}
assert s3.get_object_legal_hold(Bucket=bucket, **one)['LegalHold'] == {'Status': 'ON'}
refused('AccessDenied', s3.delete_object, BypassGovernanceRetention=True, **one)
s3.put_object_legal_hold(Bucket=bucket, LegalHold={'Status': 'OFF'}, **one)
refused('AccessDenied', s3.delete_object, **one)
failed = s3.delete_objects(Bucket=bucket, Delete={'Objects': [one]})['Errors']
assert [item['Code'] for item in failed] == ['AccessDenied'], failed
assert s3.get_object(Bucket=bucket, **one)['Body'].read() == b'one'
s3.delete_object(Bucket=bucket, BypassGovernanceRetention=True, **one)
refused('NoSuchVersion', s3.get_object, **one)

s3.put_object_lock_configuration(
    Bucket=bucket, ObjectLockConfiguration={'ObjectLockEnabled': 'Enabled'})
until = after(1)
lock = {'ObjectLockMode': 'COMPLIANCE', 'ObjectLockRetainUntilDate': until,
        'ObjectLockLegalHoldStatus': 'ON'}
large = bytes(range(256)) * 78_125
s3.upload_fileobj(io.BytesIO(large), bucket, 'large', ExtraArgs=lock)
head = s3.head_object(Bucket=bucket, Key='large')
assert {name: head.get(name) for name in lock} == lock, head
refused('AccessDenied', s3.delete_object, Key='large', VersionId=head['VersionId'],
        BypassGovernanceRetention=True)
print('done')
`;

test.each(buckets)('boto3 sets lifecycles and locks in a bucket like %s', async (bucket) => {
  const path = join(s3.folder, 'locks.py');
  await writeFile(path, locks);
  const locked = `${bucket}Locked`;
  const { endToEnd } = await s3.storage.buckets.get(bucket);
  if (endToEnd) {
    await s3.storage.buckets.create(locked, { keepVersionsDays: 1, endToEnd: {} });
  } else {
    const create = "boto3.client('s3').create_bucket(ObjectLockEnabledForBucket=True, Bucket";
    await s3.run('python3', '-c', `import boto3; ${create}='${locked}')`);
  }
  expect((await s3.run('python3', path, locked)).output.toString()).toBe('done\n');
});

test('the program of the page on Object Lock works', async () => {
  const page = await readFile(join(projectDir, 'docs', 'how-to', 's3.md'), 'utf8');
  const [, program = ''] = /```python\n(.*?)```/s.exec(page) ?? [];
  const path = join(s3.folder, 'page.py');
  await writeFile(path, program);
  await s3.run('python3', path);
  const { retention } = await s3.storage.stat({ bucket: 'ledger', path: '2026/report.pdf' });
  expect(retention).toMatchObject({ mode: 'governance', hold: true });
});
