// The environment of a page's examples: an empty folder, and a service in the state after `npm
// start`.

import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startReplica } from '../../../packages/replica/src/replica.ts';
import { deployLocally, newIdentity, principalOf } from '../../../scripts/local-service.ts';
import { copyPreparedState } from '../../support/prepared-state.ts';
import { projectDir } from '../../tidy/source-tree.ts';
import { bundleProgram } from './programs.ts';

export interface PageService {
  readonly folder: string;
  /** Replaces the placeholders of addresses, ids and keys by the local service's. */
  fill(text: string): string;
  /** Restores the placeholders, for comparing output. */
  blank(text: string): string;
  environment(): Record<string, string>;
  /** Ends the process group of a page together with the service, whatever still runs in it. */
  own(processId: number): void;
  stop(): Promise<void>;
}

export async function startPageService(): Promise<PageService> {
  const folder = await mkdtemp(join(tmpdir(), 'efs-page-'));
  const stateDir = join(folder, '.replica');
  await copyPreparedState(stateDir);
  const replica = await startReplica({ stateDir, sync: false, port: 0 });
  const wasm = new Uint8Array(await readFile(join(projectDir, 'build/file_storage.wasm.gz')));
  const description = await deployLocally({ replica, stateDir, wasm, hasFront: true });
  await writePrograms(join(folder, 'bin'));
  const { url, canisterId, apiKey, front } = description;
  if (front === undefined) throw new Error('The local service has no front');
  const host = new URL(url).host;
  const [groups, port] = [new Set<number>(), String(await freePort())];
  const somebody = principalOf(newIdentity()).toText();
  return {
    folder,
    fill: (text) =>
      text
        .replaceAll('https://<canister id>.icp.net', url)
        .replaceAll('https://icp-api.io', url)
        .replaceAll('localhost:4943', host)
        .replaceAll('8080', port)
        .replaceAll('<canister id>', canisterId)
        .replaceAll('<front id>', front.canisterId)
        .replaceAll('<their principal>', somebody)
        .replaceAll('<backend id>', somebody)
        .replaceAll('<API key>', apiKey),
    blank: (text) =>
      text
        .replaceAll(host, 'localhost:4943')
        .replaceAll(canisterId, '<canister id>')
        .replaceAll(apiKey, '<API key>'),
    environment: () => ({
      PATH: `${join(folder, 'bin')}:${process.env.PATH ?? ''}`,
      HOME: join(folder, 'home'),
      LANG: 'C.UTF-8',
      TZ: 'UTC',
      EFS_PAGE_URL: url,
      EFS_PAGE_CANISTER: canisterId,
      EFS_PAGE_FRONT: front.canisterId,
      EFS_PAGE_IDENTITY: join(stateDir, 'identity.pem'),
    }),
    own: (processId) => groups.add(processId),
    stop: async () => {
      groups.forEach(endGroup);
      await replica.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function endGroup(processId: number): void {
  try {
    process.kill(-processId);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** For a server that a page starts. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

const tools = new Map<string, Promise<string>>();

function toolProgram(name: 'icp' | 'age'): Promise<string> {
  const text = `import '${projectDir}/tests/documents/support/${name}.ts';`;
  const tool = tools.get(name) ?? bundleProgram(text, 'node');
  tools.set(name, tool);
  return tool;
}

/** Writes the repository's programs to a folder for the PATH, as if the user had installed them. */
async function writePrograms(folder: string): Promise<void> {
  await mkdir(folder);
  const home = join(folder, '..', 'home');
  await mkdir(home);
  // Hides curl's progress, which a terminal would not show for output to the terminal.
  await writeFile(join(home, '.curlrc'), 'silent\nshow-error\n');
  const efs = `exec node ${projectDir}/packages/efs/bin/efs.js "$@"`;
  for (const name of ['icp', 'age'] as const) {
    await writeFile(join(folder, `${name}.mjs`), await toolProgram(name));
  }
  const programs = {
    efs,
    npx: `case "$1" in efs) shift; ${efs};; *) echo "No npx $1 here" >&2; exit 1;; esac`,
    icp: `exec node ${join(folder, 'icp.mjs')} "$@"`,
    age: `exec node ${join(folder, 'age.mjs')} age "$@"`,
    'age-keygen': `exec node ${join(folder, 'age.mjs')} age-keygen "$@"`,
  };
  for (const [name, text] of Object.entries(programs)) {
    const path = join(folder, name);
    await writeFile(path, `#!/bin/sh\n${text}\n`);
    await chmod(path, 0o755);
  }
}
