// Git LFS continues a download by a range, at the address that its batch API returns.

import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expectFile, openClientCases } from './support/client-cases.ts';
import { type RunOptions, runUntilDone } from './support/run-program.ts';

const cases = openClientCases();

/** Starts the batch API: every requested object is available by a GET of the URL. */
async function startBatchServer(href: string) {
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const { objects = [] } = JSON.parse(Buffer.concat(pieces).toString() || '{}');
    const withAction = (object: object) => ({ ...object, actions: { download: { href } } });
    response.writeHead(200, { 'Content-Type': 'application/vnd.git-lfs+json' });
    response.end(JSON.stringify({ transfer: 'basic', objects: objects.map(withAction) }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function git(args: readonly string[], options: RunOptions): Promise<void> {
  await runUntilDone(['git', ...args], { ...options, times: 1 });
}

test('git lfs pull continues an interrupted download', async () => {
  await cases.run('git lfs', async ({ folder, target, url, proxy }) => {
    const batch = await startBatchServer(url);
    const { bytes, sha256 } = target.file;
    const work = join(folder, 'work');
    await mkdir(work);
    const options = { folder: work, env: { HOME: folder } };
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256}\nsize ${bytes.length}\n`;
    await git(['init', '--quiet'], options);
    await git(['config', 'user.email', 'client@example.org'], options);
    await git(['config', 'user.name', 'client'], options);
    await git(['config', 'lfs.url', batch.url], options);
    await writeFile(join(work, '.gitattributes'), '*.bin filter=lfs diff=lfs merge=lfs -text\n');
    await writeFile(join(work, 'large.bin'), pointer);
    await git(['add', '.'], options);
    await git(['commit', '--quiet', '-m', 'A pointer'], options);
    await git(['lfs', 'install', '--local'], options);
    await runUntilDone(['git', 'lfs', 'pull'], { ...options, times: 6 });
    batch.server.close();
    await expectFile(join(work, 'large.bin'), bytes);
    const resumed = proxy.requests.filter((head) => /^range: bytes=[1-9]/im.test(head));
    expect(resumed.length, 'requests that went on').toBeGreaterThan(0);
  });
});
