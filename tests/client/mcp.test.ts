// `efs serve mcp` by the official client of the Model Context Protocol.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type FileClient, openFileClient } from '../support/http-client.ts';
import { openService, type Service } from '../support/service.ts';
import { projectDir } from '../tidy/source-tree.ts';

let service: Service;
let files: FileClient;
let folder: string;
let client: Client;
let blind: Client;
/** The user's answer to each question, and the questions. */
let answer: 'agrees' | 'leaves the box empty' | 'declines';
let asked: string[];

async function openClient(words: readonly string[], canAsk: boolean): Promise<Client> {
  const capabilities = canAsk ? { elicitation: {} } : {};
  const opened = new Client({ name: 'test', version: '1' }, { capabilities });
  if (canAsk) {
    opened.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      asked.push(params.message);
      if (answer === 'declines') return { action: 'decline' };
      return { action: 'accept', content: { agree: answer === 'agrees' } };
    });
  }
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(projectDir, 'packages/efs/bin/efs.js'), 'serve', 'mcp', ...words],
    env: { EFS_URL: service.base, EFS_API_KEY: service.apiKey, HOME: folder, PATH: '' },
    cwd: folder,
  });
  await opened.connect(transport);
  return opened;
}

async function call(name: string, values: object, by = client) {
  const result = await by.callTool({ name, arguments: { bucket: 'demo', ...values } });
  const [content] = result.content as { text: string }[];
  return { text: content?.text ?? '', isError: result.isError === true };
}

beforeAll(async () => {
  service = await openService();
  files = openFileClient(service);
  folder = await mkdtemp(join(tmpdir(), 'efs-mcp-'));
  client = await openClient([], true);
  blind = await openClient(['demo/notes/'], false);
});

beforeEach(async () => {
  asked = [];
  answer = 'agrees';
  await files.put('notes/a.txt', 'hello', { 'Content-Type': 'text/plain' });
});

afterAll(async () => {
  await client?.close();
  await blind?.close();
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('efs serve mcp', () => {
  test('offers its tools, with --read-only only those that read', async () => {
    const { tools } = await client.listTools();
    const names = ['list_files', 'read_file', 'write_file', 'delete_file', 'create_link'];
    expect(tools.map(({ name }) => name)).toEqual(names);
    const readers = await openClient(['--read-only'], true);
    const { tools: few } = await readers.listTools();
    expect(few.map(({ name }) => name)).toEqual(['list_files', 'read_file']);
    await readers.close();
  });

  test('lists and reads text, bytes and a later part', async () => {
    await files.put('notes/b.bin', Uint8Array.of(0xff, 0xfe));
    const listed = JSON.parse((await call('list_files', { folder: 'notes/' })).text);
    const paths = listed.files.map(({ path }: { path: string }) => path);
    expect(paths).toEqual(['notes/a.txt', 'notes/b.bin']);
    expect(JSON.parse((await call('list_files', {})).text).folders).toContain('notes/');
    const read = async (values: object) => JSON.parse((await call('read_file', values)).text);
    expect(await read({ path: 'notes/a.txt' })).toMatchObject({ text: 'hello', size: 5, end: 5 });
    expect(await read({ path: 'notes/a.txt', offset: 3 })).toMatchObject({ text: 'lo' });
    expect(await read({ path: 'notes/b.bin' })).toMatchObject({ base64: '//4=' });
    const none = await call('read_file', { path: 'none' });
    expect(none).toMatchObject({ isError: true, text: expect.stringContaining('NoSuchFile') });
    expect(asked).toEqual([]);
  });

  test('stores a file that everybody may read, and replaces one, only with consent', async () => {
    expect((await call('write_file', { path: 'notes/new.md', text: '# A' })).isError).toBe(false);
    expect(asked).toEqual(['Store demo/notes/new.md, where everybody may read it?']);
    const stored = await files.get('notes/new.md');
    expect([stored.headers.get('content-type'), await stored.text()]).toEqual([
      'text/markdown',
      '# A',
    ]);
    const replace = { path: 'notes/a.txt', text: 'other' };
    for (answer of ['declines', 'leaves the box empty'] as const) {
      expect((await call('write_file', replace)).text).toContain('did not agree');
    }
    expect(await (await files.get('notes/a.txt')).text()).toBe('hello');
    answer = 'agrees';
    expect((await call('write_file', replace)).isError).toBe(false);
    expect(asked.at(-1)).toBe('Replace demo/notes/a.txt, 5 bytes, by 5 bytes?');
    expect(await (await files.get('notes/a.txt')).text()).toBe('other');
  });

  test('deletes and shares only with consent', async () => {
    const name = { path: 'notes/a.txt' };
    answer = 'declines';
    for (const tool of ['delete_file', 'create_link']) {
      expect((await call(tool, name)).text).toContain('did not agree');
    }
    answer = 'agrees';
    const link = await call('create_link', { ...name, hours: 2 });
    const { pathname, search } = new URL(link.text);
    expect(await (await fetch(`${service.base}${pathname}${search}`)).text()).toBe('hello');
    expect((await call('delete_file', name)).isError).toBe(false);
    expect((await files.get('notes/a.txt')).status).toBe(404);
    expect(asked.at(-1)).toBe('Delete demo/notes/a.txt, 5 bytes?');
  });

  test('refuses to delete, share or replace if the client cannot ask, and places outside', async () => {
    const name = { path: 'notes/a.txt' };
    for (const tool of ['delete_file', 'create_link']) {
      expect((await call(tool, name, blind)).text).toContain('cannot ask');
    }
    expect((await call('write_file', { ...name, text: 'x' }, blind)).text).toContain('cannot ask');
    for (const folderOf of ['', 'note']) {
      expect((await call('list_files', { folder: folderOf }, blind)).text).toContain(
        'restricted to',
      );
    }
    const outside = await call('read_file', { path: 'other.txt' }, blind);
    expect(outside).toMatchObject({
      isError: true,
      text: expect.stringContaining('restricted to'),
    });
    const other = await call('read_file', { bucket: 'other', path: 'notes/a.txt' }, blind);
    expect(other.isError).toBe(true);
    expect(await (await files.get('notes/a.txt')).text()).toBe('hello');
  });
});
