// ffmpeg: it requests `bytes=0-`, seeks to a film's index at the end, and reconnects.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { type Case, openClientCases } from './support/client-cases.ts';
import { runUntilDone } from './support/run-program.ts';
import type { PublicFile } from './support/target.ts';
import { makeVideo } from './support/video.ts';

const cases = openClientCases();
let video: PublicFile;
beforeAll(async () => {
  const bytes = await makeVideo();
  expect(bytes.length).toBeGreaterThan(5_000_000);
  video = await cases.target.addFile('film.mp4', 'video/mp4', bytes);
});

const frames = ['-f', 'md5'] as const;
const packets = ['-c', 'copy', '-f', 'md5'] as const;

/** Returns the digest of the bytes that ffmpeg reads. */
async function read(command: readonly string[], folder: string): Promise<string> {
  const options = { folder, times: 1 };
  const { output } = await runUntilDone(['ffmpeg', '-v', 'error', ...command, '-'], options);
  return output.toString();
}

async function checkReading(
  how: readonly string[],
  { proxy, folder }: Pick<Case, 'proxy' | 'folder'>,
  options: readonly string[] = [],
): Promise<void> {
  await writeFile(join(folder, 'film.mp4'), video.bytes);
  const expected = await read(['-i', 'film.mp4', ...how], folder);
  expect(expected).toMatch(/^MD5=[0-9a-f]{32}\n$/);
  const url = `http://127.0.0.1:${proxy.port}${video.path}`;
  expect(await read([...options, '-i', url, ...how], folder)).toBe(expected);
}

test('ffmpeg without options reads a film to its end', async () => {
  await cases.run('ffmpeg', (one) => checkReading(packets, one), { cuts: 0 });
});

test.each([
  ['every decoded frame', frames],
  ['every packet', packets],
])('ffmpeg -reconnect reads %s of a film', async (what, how) => {
  const again = ['-reconnect', '1', '-reconnect_on_network_error', '1'];
  await cases.run(`ffmpeg, ${what}`, (one) => checkReading(how, one, again), {
    toBytes: 2_000_000,
  });
});
