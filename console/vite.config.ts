// How the console becomes `dist`: index.html and assets whose names carry their hash, for a server
// that sends nothing else and a policy that forbids whatever stands inline.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';

const projectDir = fileURLToPath(new URL('..', import.meta.url));

/** By its folder below the project, the folder of each library that stands for it. */
function firstCopies(): Map<string, string> {
  const { packages } = JSON.parse(readFileSync(`${projectDir}package-lock.json`, 'utf8'));
  const first = new Map<string, string>();
  const copies = new Map<string, string>();
  for (const folder of Object.keys(packages).sort()) {
    const name = `${folder.split('node_modules/').at(-1)} ${packages[folder].version}`;
    first.set(name, first.get(name) ?? folder);
    copies.set(folder, first.get(name) ?? folder);
  }
  return copies;
}

/**
 * npm puts a library below each package that wants another version than most. Where several want
 * the same one, the page has it once: some 11 kB less, compressed.
 */
function oneCopyOfEachVersion(): Plugin {
  const copies = firstCopies();
  return {
    name: 'one-copy-of-each-version',
    enforce: 'pre',
    async resolveId(source, importer, options) {
      const found = await this.resolve(source, importer, { ...options, skipSelf: true });
      if (!found?.id.startsWith(projectDir)) return found;
      const path = found.id.slice(projectDir.length);
      const [folder = ''] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [];
      const copy = copies.get(folder) ?? folder;
      return { ...found, id: projectDir + copy + path.slice(folder.length) };
    },
  };
}

export default defineConfig({
  // The console is at the root of its origin; its assets never expire.
  base: '/',
  plugins: [oneCopyOfEachVersion()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    // No data: addresses; and what loads modules ahead would be a script of its own.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // With all that each needs: many small files compress badly.
        codeSplitting: {
          groups: [
            { name: 'index', test: /console\/src\/main\.tsx$/, priority: 2 },
            // Shared by the agent and age, without the pairings that only certificates need.
            {
              name: 'curves',
              test: /core\/node_modules\/@noble\/(?:hashes|curves)\/(?!.*(?:bls|tower))/,
              priority: 1,
            },
            { name: 'age', test: /age\/(?:end-to-end-files|linked-file)\.ts$/ },
          ],
        },
      },
    },
  },
});
