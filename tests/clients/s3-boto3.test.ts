// boto3 with its defaults: checksums in trailers, multipart uploads, pages.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
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
