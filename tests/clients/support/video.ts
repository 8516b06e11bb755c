// A video for playing and seeking: a moving test picture with a tone, made by ffmpeg. Its index is
// at its end, so that every player must request ranges.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runUntilDone } from './run-program.ts';

export const videoSeconds = 60;

/** About 9 MB of MP4. */
export async function makeVideo(): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), 'video-'));
  const codecs = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'aac'];
  const picture = `testsrc2=size=320x240:rate=24:duration=${videoSeconds},noise=alls=20:allf=t`;
  const tone = `sine=frequency=440:duration=${videoSeconds}`;
  const inputs = ['-f', 'lavfi', '-i', picture, '-f', 'lavfi', '-i', tone];
  const output = ['-b:v', '1200k', '-maxrate', '1300k', '-bufsize', '1M', '-g', '24'];
  const name = 'video.mp4';
  try {
    const command = ['-v', 'error', '-y', ...inputs, ...codecs, ...output, name];
    await runUntilDone(['ffmpeg', ...command], { folder, times: 1 });
    return new Uint8Array(await readFile(join(folder, name)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
