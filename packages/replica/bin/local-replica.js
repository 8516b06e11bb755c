#!/usr/bin/env node
// Starts the command, which the package contains as built JavaScript.

import { main } from '../dist/command.js';

main(process.argv.slice(2)).catch((error) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
