// `npm run replica:foreign -- --assets FILE …`: runs third-party Wasm on the local replica. The
// tests of each kind kill, restart and upgrade it. The user provides the files.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const usage = `Usage: npm run replica:foreign -- [--assets FILE] [--ledger FILE] [--counter FILE]

Tests third-party Wasm files, plain or gzip-compressed. Each option may be repeated.
  --assets FILE   DFINITY's asset canister, by @dfinity/assets and the HTTP gateway
  --ledger FILE   an ICRC-1 ledger
  --counter FILE  a counter, in Motoko or any language: a query \`read\`, \`get\`, \`count\` or
                  \`getVersion\` without arguments, and an update \`inc\`, \`increment\` or \`add\`;
                  without an update, upgrades must increase the count`;

const kinds = ['assets', 'ledger', 'counter'] as const;

async function main(args: readonly string[]): Promise<number> {
  const several = { type: 'string', multiple: true } as const;
  const { values } = parseArgs({
    args: [...args],
    options: { assets: several, ledger: several, counter: several, help: { type: 'boolean' } },
  });
  const asked = kinds.filter((kind) => values[kind] !== undefined);
  if (values.help === true || asked.length === 0) {
    console.log(usage);
    return values.help === true ? 0 : 1;
  }
  const files = Object.fromEntries(
    asked.map((kind) => {
      const paths = (values[kind] ?? []).map((path) => resolve(path));
      const missing = paths.find((path) => !existsSync(path));
      if (missing !== undefined) throw new Error(`--${kind}: file ${missing} does not exist`);
      return [`EFS_FOREIGN_${kind.toUpperCase()}`, paths.join(delimiter)];
    }),
  );
  return runSuite(files);
}

function runSuite(files: Readonly<Record<string, string>>): Promise<number> {
  const projectDir = join(dirname(fileURLToPath(import.meta.url)), '..');
  const vitest = join(projectDir, 'node_modules/vitest/vitest.mjs');
  const child = spawn(process.execPath, [vitest, 'run'], {
    cwd: projectDir,
    env: { ...process.env, ...files, EFS_SUITE: 'foreign' },
    stdio: 'inherit',
  });
  return new Promise((resolve) => child.on('close', (code) => resolve(code ?? 1)));
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  },
);
