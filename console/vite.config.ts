// Builds the console into `dist`: index.html, and assets with their hash in the name, because they
// are cached forever. Nothing is inline, because the page's policy forbids it.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';
import { languages } from './src/language.ts';

const projectDir = fileURLToPath(new URL('..', import.meta.url));

/**
 * Maps the folder of each installed library to the folder of the copy to bundle: the first with the
 * same version. The noble libraries keep their interface within a major version, so the newest
 * copy of it serves all; tests/console/post-quantum.thorough.test.ts checks this.
 */
function chosenCopies(): Map<string, string> {
  const { packages } = JSON.parse(readFileSync(`${projectDir}package-lock.json`, 'utf8'));
  const nameOf = (folder: string) => {
    const name = folder.split('node_modules/').at(-1) ?? '';
    const { version } = packages[folder];
    return `${name} ${name.startsWith('@noble/') ? /^\d+/.exec(version) : version}`;
  };
  const chosen = new Map<string, string>();
  const folders = Object.keys(packages).sort();
  for (const folder of folders) {
    const known = chosen.get(nameOf(folder));
    if (known === undefined || isNewer(packages[folder], packages[known]))
      chosen.set(nameOf(folder), folder);
  }
  return new Map(folders.map((folder) => [folder, chosen.get(nameOf(folder)) ?? folder]));
}

function isNewer(one: { version?: string }, other: { version?: string }): boolean {
  const [a = '', b = ''] = [one.version, other.version];
  return a.localeCompare(b, 'en', { numeric: true }) > 0;
}

/**
 * npm installs a library once for each package that needs a version other than the common one.
 * This plugin bundles one copy, which saves about 25 kB compressed.
 */
function oneCopyOfEachVersion(): Plugin {
  const copies = chosenCopies();
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

/** Leaves out the verification of the journal, which no view offers: 4 kB compressed. */
function withoutVerification(): Plugin {
  return {
    name: 'without-verification',
    load(id) {
      if (!/\/journal-(?:verification|blocks)\.ts$/.test(id)) return undefined;
      return 'throw new Error("The console does not verify the journal.");';
    },
  };
}

/** Tells browsers without JavaScript, in every language, that the page needs it. */
function textsWithoutScript(): Plugin {
  return {
    name: 'texts-without-script',
    async transformIndexHtml(page) {
      const paragraphs = Object.entries(languages).map(async ([tag, { load }]) => {
        const { texts } = await load();
        return `<p lang="${tag}" dir="${texts.direction}">${texts.page.needsJavaScript}</p>`;
      });
      return page.replace('<noscript>', `<noscript>${(await Promise.all(paragraphs)).join('')}`);
    },
  };
}

/** Decryption, and links to folders; one compressed file is smaller than several. */
const ageFiles =
  /(?:age\/(?:end-to-end-files|linked-file|shared-folder|folder-keys)|folder-link-operations)\.ts$/;

export default defineConfig({
  // The console is at the root of its origin; its assets never expire.
  base: '/',
  plugins: [oneCopyOfEachVersion(), withoutVerification(), textsWithoutScript()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    // The policy forbids data: URLs; module preloading would need a script of its own.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // Groups include their dependencies, because many small files compress badly.
        codeSplitting: {
          groups: [
            { name: 'index', test: /console\/src\/(?:main\.tsx|texts\/formats\.ts)$/, priority: 2 },
            // Shared by the agent and age, without pairings, which only certificates need
            {
              name: 'curves',
              test: /core\/node_modules\/@noble\/(?:hashes|curves)\/(?!.*(?:bls|tower))/,
              priority: 1,
            },
            // Loaded by every session, so apart from what only end-to-end buckets need
            { name: 'storage', test: /client\/src\/storage\.ts$/, priority: 1 },
            { name: 'age', test: ageFiles },
            // Pages that few visits open
            {
              name: 'pages',
              test: /views\/(?:bucket|activity|deleted|service|service-state)\.tsx$/,
            },
            {
              name: 'file',
              test: /views\/(?:file|versions|preview|selection-bar|row-menu|upload-panel)\.tsx$/,
            },
            {
              name: 'transfers',
              test: /(?:uploads\/uploads|download-all|bucket-modes|sealed-arguments|top-ups)\.ts$/,
            },
            {
              name: 'dialogs',
              test: /views\/(?:[\w-]+-dialog|rename-field|asked-key|shortcut-help)\./,
            },
          ],
        },
      },
    },
  },
});
