// `npm run judge`: runs the acceptance tests, and those of tests/certification and tests/client
// that need only a service, on a network in another process, and prints what differs there.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  type JudgingNetwork,
  startPocketIc,
  startReplicas,
} from '../tests/support/network/judging-networks.ts';

const usage = `Usage: npm run judge [-- [--replica] [FILES]]

Runs tests of the service on a network in another process:
  POCKET_IC_BIN=FILE      a PocketIC server, named pocket-ic or pocket-ic-server
  EFS_JUDGE_HOST=URL      a network that is running, such as dfx: http://localhost:4943
  --replica               the local replica of this repository
FILES are parts of paths of test files.

Exit code: 0 all tests passed, 1 tests failed, 2 nothing was judged.`;

const nothingJudged = 2;
const projectDir = join(dirname(fileURLToPath(import.meta.url)), '..');

async function openNetwork(isReplica: boolean): Promise<JudgingNetwork | undefined> {
  const { POCKET_IC_BIN: binary, EFS_JUDGE_HOST: host } = process.env;
  if (isReplica) return startReplicas();
  if (binary !== undefined) return startPocketIc(resolve(binary));
  if (host === undefined) return undefined;
  return { name: host, variables: { EFS_JUDGE_HOST: host }, stop: async () => {} };
}

async function runTests(files: readonly string[], variables: Readonly<Record<string, string>>) {
  const words = [join(projectDir, 'node_modules/vitest/vitest.mjs'), 'run', ...files];
  const env = { ...process.env, ...variables, EFS_SUITE: 'judge' };
  const child = spawn(process.execPath, words, { cwd: projectDir, env, stdio: 'inherit' });
  const [code] = await once(child, 'close');
  return code === 0 ? 0 : 1;
}

async function main(args: readonly string[]): Promise<number> {
  const options = { replica: { type: 'boolean' }, help: { type: 'boolean' } } as const;
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  if (values.help === true) {
    console.log(usage);
    return 0;
  }
  const network = await openNetwork(values.replica === true);
  if (network === undefined) {
    console.log(
      'Nothing was judged: name a PocketIC server in POCKET_IC_BIN or a running network in ' +
        'EFS_JUDGE_HOST, or judge the local replica with `npm run judge -- --replica`.',
    );
    return nothingJudged;
  }
  try {
    console.log(`Judging on ${network.name}`);
    return await runTests(positionals, network.variables);
  } finally {
    await network.stop();
  }
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = nothingJudged;
  },
);
