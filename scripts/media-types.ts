// `npx tsx scripts/media-types.ts`: generates the canister's table of media types by file extension
// from the package mime-types, which cannot be bundled because it imports Node's `path`.

import { writeFile } from 'node:fs/promises';
import { types } from 'mime-types';

/** Returns "\nextension type" for each extension, so that a look-up is one search in a text. */
export function mediaTypeTable(): { byExtension: string } {
  const lines = Object.entries(types).map(([extension, type]) => `\n${extension} ${type}`);
  return { byExtension: `${lines.sort().join('')}\n` };
}

if (import.meta.filename === process.argv[1]) {
  const path = new URL('../src/http/media-types.json', import.meta.url);
  await writeFile(path, `${JSON.stringify(mediaTypeTable(), null, 2)}\n`);
}
