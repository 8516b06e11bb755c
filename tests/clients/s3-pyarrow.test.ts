// pyarrow, which includes AWS's SDK for C++, and so sends header fields that other SDKs do not.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buckets, openS3Process } from './support/s3-process.ts';

const s3 = openS3Process();

const program = `
import os, sys
from urllib.parse import urlparse
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.fs as fs
import pyarrow.parquet as pq
bucket = sys.argv[1]
url = urlparse(os.environ['AWS_ENDPOINT_URL'])
s3 = fs.S3FileSystem(endpoint_override=url.netloc, scheme=url.scheme, region='auto',
    allow_bucket_creation=True, allow_bucket_deletion=True)
table = pa.table({'a': list(range(100_000)), 'b': [f'row {index}' for index in range(100_000)]})
pq.write_table(table, f'{bucket}/arrow/one.parquet', filesystem=s3)
assert pq.read_table(f'{bucket}/arrow/one.parquet', filesystem=s3).equals(table)
assert pq.read_table(f'{bucket}/arrow/one.parquet', filesystem=s3, columns=['a']).num_rows == 100_000
ds.write_dataset(table, f'{bucket}/arrow/set', filesystem=s3, format='parquet')
assert ds.dataset(f'{bucket}/arrow/set', filesystem=s3).to_table().num_rows == 100_000
with s3.open_output_stream(f'{bucket}/arrow/large.bin') as out:
    for index in range(30):
        out.write(bytes([index]) * 1_000_000)
with s3.open_input_file(f'{bucket}/arrow/large.bin') as file:
    file.seek(29_000_000)
    assert file.read() == bytes([29]) * 1_000_000
s3.copy_file(f'{bucket}/arrow/large.bin', f'{bucket}/arrow/copy.bin')
s3.move(f'{bucket}/arrow/copy.bin', f'{bucket}/arrow/moved.bin')
names = sorted(info.path for info in s3.get_file_info(fs.FileSelector(f'{bucket}/arrow', recursive=True)) if info.is_file)
assert names == [f'{bucket}/arrow/{name}' for name in ('large.bin', 'moved.bin', 'one.parquet', 'set/part-0.parquet')], names
s3.delete_dir(f'{bucket}/arrow')
assert s3.get_file_info(f'{bucket}/arrow/one.parquet').type == fs.FileType.NotFound
s3.create_dir(f'{bucket}Arrow')
s3.delete_dir(f'{bucket}Arrow')
print('done')
`;

test.each(buckets)('pyarrow writes, reads, copies and deletes in bucket %s', async (bucket) => {
  const path = join(s3.folder, 'program.py');
  await writeFile(path, program);
  expect((await s3.run('python3', path, bucket)).output.toString()).toBe('done\n');
});
