#!/usr/bin/env node
// Starts the command; the package brings it built.

import { main } from '../dist/command.js';

main(process.argv.slice(2)).catch((error) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
