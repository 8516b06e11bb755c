// Runs every command of the pages in docs/how-to/s3, each page in a fresh environment.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { projectDir } from '../tidy/source-tree.ts';
import { openS3Process } from './support/s3-process.ts';

const s3 = openS3Process();

beforeAll(async () => {
  const { folder, storage } = s3;
  for (const name of ['photos', 'documents']) {
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, 'a.txt'), `of ${name}`);
  }
  await writeFile(join(folder, 'letter.pdf'), 'Dear Anna');
  await storage.buckets.create('backup', {});
});

/** Returns the page's blocks of a language, with the running server's address and keys. */
async function blocksOf(page: string, language: string): Promise<string[]> {
  const text = await readFile(join(projectDir, 'docs', 'how-to', 's3', `${page}.md`), 'utf8');
  const { url, accessKeyId, secretAccessKey } = s3;
  return [...text.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'))].map(
    ([, block = '']) =>
      block
        .replaceAll('http://127.0.0.1:9000', url)
        .replaceAll('EFS…', accessKeyId)
        .replaceAll('…', secretAccessKey),
  );
}

/** Lines that are not run: the tests have already set up the server, and a mount never ends. */
const isLeftOut = (line: string) => /^(?:efs|rclone mount) /.test(line);

test.each([
  ['aws', /9 letter\.pdf\n.*X-Amz-Signature=/s],
  ['rclone', /9 letter\.pdf/],
  ['restic', /\/documents\n/],
  ['s3fs', /letter\.pdf\n/],
])('the commands of the page on %s work', async (page, expected) => {
  const blocks = await blocksOf(page, 'sh');
  expect(blocks.length).toBeGreaterThan(1);
  const lines = blocks.flatMap((block) => block.split('\n')).filter((line) => !isLeftOut(line));
  // The page contains the keys, not the environment.
  const names = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_ENDPOINT_URL', 'AWS_REGION'];
  const script = [
    `unset ${names.join(' ')} AWS_DEFAULT_REGION`,
    'export RESTIC_PASSWORD=secret',
    'set -e',
    ...lines,
  ].join('\n');
  const { output } = await s3.run('bash', '-c', script);
  expect(output.toString()).toMatch(expected);
});

test('the program of the page on boto3 works', async () => {
  const [program = ''] = await blocksOf('boto3', 'python');
  await writeFile(join(s3.folder, 'page.py'), program);
  const { output } = await s3.run('python3', 'page.py');
  expect(output.toString()).toContain('Dear Anna\n');
  expect(output.toString()).toContain('letters/letter.txt 9\n');
});
