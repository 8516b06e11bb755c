// Every example in the client's docstrings is run against a local service; pages.test.ts checks
// their types together with those of the pages.

import { writeFileSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateX25519Identity } from 'age-encryption';
import { expect, test } from 'vitest';
import * as entrance from '../../packages/client/src/node/index.ts';
import { unusedOptions } from './support/example-options.ts';
import { programOfExamples, readExamples } from './support/examples.ts';
import { startPageService } from './support/page-service.ts';
import { bundleProgram } from './support/programs.ts';
import { runShell } from './support/shell.ts';

const examples = readExamples();

/** Not every system resolves names below localhost, as RFC 6761 §6.3 says; browsers do. */
const resolvesLocalhost = `
import dns from 'node:dns';
const { lookup } = dns;
dns.lookup = (name, ...rest) => lookup(name.endsWith('.localhost') ? 'localhost' : name, ...rest);
`;

test('@example is in the docstring of each exported function', () => {
  const functions = Object.entries(entrance).filter(([name]) => /^[a-z]/.test(name));
  const described = new Set(examples.map(({ name }) => name));
  expect(functions.map(([name]) => name).filter((name) => !described.has(name))).toEqual([]);
});

test('@example passes each option of the functions and methods at least once', () => {
  expect(unusedOptions(programOfExamples(examples))).toEqual([]);
  const others = examples.filter(({ name }) => name !== 'range');
  expect(unusedOptions(programOfExamples(others))).toEqual(['DownloadOptions.range']);
});

test('@example runs against a service', async () => {
  const service = await startPageService();
  try {
    const { folder } = service;
    await copyFile(join(folder, '.replica/identity.pem'), join(folder, 'identity.pem'));
    writeFileSync(join(folder, 'film.mp4'), new Uint8Array(2_000_000));
    writeFileSync(join(folder, 'age-identity.txt'), await generateX25519Identity());
    writeFileSync(
      join(folder, 'block.mjs'),
      await bundleProgram(service.fill(programOfExamples(examples)), 'node'),
    );
    writeFileSync(join(folder, 'localhost.mjs'), resolvesLocalhost);
    const { code, output } = await runShell('node --import ./localhost.mjs block.mjs', service);
    expect(code, output).toBe(0);
  } finally {
    await service.stop();
  }
});
