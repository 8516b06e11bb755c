// How the console becomes `dist`: index.html and assets whose names carry their hash, for a server
// that sends nothing else and a policy that forbids whatever stands inline.

import { defineConfig } from 'vite';

export default defineConfig({
  // The console is at the root of its origin; its assets never expire.
  base: '/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    // No data: addresses; and what loads modules ahead would be a script of its own.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
