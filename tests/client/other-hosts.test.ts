// Keys, signed calls, file contents and links are sent only to the named service, whatever a
// gateway or a node answers.

import { execFileSync } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fetchCommand } from '../../console/src/linked-file.ts';
import { checkedLink } from '../../packages/client/src/operations/link-path.ts';
import { createStorage, type StorageOptions } from '../../packages/client/src/storage.ts';

const retry = { attemptsMax: 3, delayMsMin: 1, delayMsMax: 1 };

describe('createStorage(): a service that redirects', () => {
  let other: Server;
  let redirecting: Server;
  let base: string;
  const reached: string[] = [];
  let asked = 0;

  beforeAll(async () => {
    other = createServer((request, response) => {
      reached.push(`${request.method} ${request.url}`);
      response.end('{}');
    });
    const otherBase = await listen(other);
    redirecting = createServer((request, response) => {
      asked += 1;
      response.writeHead(307, { Location: otherBase + request.url }).end();
    });
    base = await listen(redirecting);
  });
  afterAll(() => {
    for (const server of [other, redirecting]) server.close();
  });

  async function listen(server: Server): Promise<string> {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  test.each<[string, () => StorageOptions, number]>([
    ['HTTP', () => ({ url: base, apiKey: 'efs_key', retry }), 1],
    // The agent itself tries its first request three times.
    ['the actor', () => ({ host: base, canisterId: 'rwlgt-iiaaa-aaaaa-aaaaa-cai', retry }), 3],
  ])('over %s is not followed, and the error says so', async (_, options, requestsMax) => {
    asked = 0;
    const upload = createStorage(options()).upload(new Uint8Array(9), { bucket: 'b', path: 'p' });
    const message = expect.stringContaining(`${base} redirects to another address`);
    await expect(upload).rejects.toMatchObject({ code: 'HttpError', message });
    expect(reached).toEqual([]);
    expect(asked).toBeLessThanOrEqual(requestsMax);
  });
});

describe('links.create()', () => {
  const id = 'AAAAAAAAAAAAAAA-';
  const secret = 'BBBBBBBBBBBBBBBBBBBBB_';

  test.each([
    `.evil.example/s/${id}/a.txt?k=${secret}`,
    `@evil.example/s/${id}/a.txt?k=${secret}`,
    `//evil.example/s/${id}/a.txt?k=${secret}`,
    `/s/../cloud/${id}/a.txt?k=${secret}`,
    `/s/${id}/a.txt?k=${secret}&then=https://evil.example`,
    `/s/${id}/a.txt?k=${secret}\n`,
    `/s/${id}/.bashrc?k=${secret}`,
    `/s/${'C'.repeat(16)}/a.txt?k=${secret}`,
    `/s/${id}/a.txt`,
    undefined,
  ])('refuses %j, which a lying node returns as the address of a link', async (url) => {
    const fetch = async () => Response.json({ id, url }, { status: 201 });
    const storage = createStorage({ url: 'https://files.icp.net', apiKey: 'k', fetch, retry });
    const made = storage.links.create({ bucket: 'b', path: 'folder/a.txt' });
    await expect(made).rejects.toMatchObject({ code: 'HttpError' });
    const lie = { id, url: url as string };
    expect(() => checkedLink({ bucket: 'b', path: 'folder/a.txt' }, lie)).toThrow('is not a link');
  });

  test.each([
    [{ path: 'folder/a.txt' }, 'a.txt'],
    [{ path: "it's (1)!.txt", downloadName: '' }, "it's%20(1)!.txt"],
    [{ path: 'a.txt', downloadName: 'ä' }, '%C3%A4'],
  ])('accepts the address of a link to %j', (file, name) => {
    const made = { id, url: `/s/${id}/${name}?k=${secret}` };
    expect(checkedLink({ bucket: 'b', ...file }, made)).toEqual(made);
  });
});

describe('fetchCommand()', () => {
  const start = 'https://files.icp.net/s/AAAAAAAAAAAAAAA-';
  const end = 'k=BBBBBBBBBBBBBBBBBBBBB_#AQ-_';

  test.each([
    'a.txt',
    "it's%20here!.txt",
    '$(touch%20x)%60touch%20x%60;&|.txt',
    '%22;touch%20x;%22',
    '%24PATH%25PATH%25%5E.txt',
  ])('quotes the name %s for every shell', (name) => {
    const command = fetchCommand(new URL(`${start}/${name}?${end}/${name}`)) ?? '';
    expect(command).toMatch(/^npx efs get "https:\/\/files\.icp\.net\/s\/[\w\-./%?=#~]+"$/);
    const words = command.replace('npx efs get', "printf '%s\\n'");
    const [printed, ...others] = execFileSync('sh', ['-c', words]).toString().trim().split('\n');
    expect(others).toEqual([]);
    expect(`"${printed}"`).toBe(command.slice('npx efs get '.length));
    expect(decodeURIComponent(new URL(printed ?? '').pathname)).toBe(
      `/s/AAAAAAAAAAAAAAA-/${decodeURIComponent(name)}`,
    );
  });

  test.each([
    `${start}/%E0?${end}`,
    `${start}/a?k=x#AQ`,
    `${start}/a/b?${end}`,
    `${start}/a?${end}"`,
  ])('returns no command for %s', (address) =>
    expect(fetchCommand(new URL(address))).toBeUndefined(),
  );
});
