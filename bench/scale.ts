// `npm run bench:scale [-- FILES] [-- --state FOLDER]` compares costs of requests with few and with
// many files in a bucket, and of reading few and many entries of the journal, and writes
// bench/scale.json. No cost may grow with the number of files or entries. Storing a million files
// takes more than an hour. With --state, FOLDER keeps them: the next run upgrades its canister and
// continues. With --journal, only the journal is measured, which takes some minutes.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { IDL } from '@dfinity/candid';
import { type Replica, startReplica } from '../packages/replica/src/replica.ts';
import { buildCanister } from '../scripts/build.ts';
import { deployLocally } from '../scripts/local-service.ts';
import { growthChart } from './growth-chart.ts';
import { measureJournals } from './journal-scale.ts';
import { fillFolder, pathOf, stateFolder } from './scale-fill.ts';
import { type Costs, formatScale, replaceTable } from './table.ts';

const projectDir = join(dirname(fileURLToPath(import.meta.url)), '..');
const fileCounts = [1_000, 10_000, 100_000, 1_000_000];
const repetitions = 9;
const bucket = 'demo';
const files = `/api/v1/bucket/${bucket}/files`;

const HeaderField = IDL.Tuple(IDL.Text, IDL.Text);
const Request = IDL.Record({
  method: IDL.Text,
  url: IDL.Text,
  headers: IDL.Vec(HeaderField),
  body: IDL.Vec(IDL.Nat8),
});
const Response = IDL.Record({
  status_code: IDL.Nat16,
  upgrade: IDL.Opt(IDL.Bool),
  body: IDL.Vec(IDL.Nat8),
});

interface Target {
  readonly replica: Replica;
  readonly canisterId: string;
  readonly wasm: Uint8Array;
  readonly apiKey: string;
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body?: Uint8Array;
}

async function send(target: Target, sent: Sent): Promise<Buffer> {
  const { method, path, body = new Uint8Array(0) } = sent;
  const { replica, canisterId, apiKey } = target;
  // Public files are fetched without a key, as browsers do.
  const key = path.startsWith('/cloud/') ? [] : [['authorization', `Bearer ${apiKey}`]];
  const headers = [['host', 'localhost'], ...key, ['content-type', 'text/plain']];
  const argument = IDL.encode([Request], [{ method, url: path, headers, body }]);
  const isChange = method === 'PUT' || method === 'DELETE';
  const reply = isChange
    ? await replica.call(canisterId, 'http_request_update', argument)
    : await replica.query(canisterId, 'http_request', argument);
  const [response] = IDL.decode([Response], reply) as unknown as [
    { status_code: number; upgrade: [] | [boolean]; body: Uint8Array },
  ];
  const isUnexpected = response.status_code >= 400 && !path.endsWith('/none');
  if (isUnexpected || response.upgrade[0] === true) {
    throw new Error(`${method} ${path} answered ${response.status_code}`);
  }
  return Buffer.from(response.body);
}

/** Returns the number of files stored so far; a former run may have been interrupted. */
async function filesIn(target: Target): Promise<number> {
  const path = `${files}?pageSize=1&prefix=photos/`;
  const answer = await send(target, { method: 'GET', path });
  return (JSON.parse(answer.toString()) as { total: number }).total;
}

async function median(target: Target, request: (turn: number) => Promise<unknown>) {
  const costs: number[] = [];
  for (let turn = 0; turn < repetitions; turn++) {
    await request(turn);
    costs.push(Number(target.replica.lastMessage()?.instructions) / 1e6);
  }
  return costs.toSorted((left, right) => left - right)[repetitions >> 1] ?? 0;
}

async function measureAt(target: Target, count: number): Promise<Costs> {
  const lastPage = Math.max(1, Math.floor(count / 50) - 10);
  const orders = [
    ['name_asc', 'photos/20'],
    ['name_desc', 'photos/20'],
    ['date_asc', ''],
    ['date_desc', ''],
    ['date_desc', 'photos/20'],
  ];
  const lists = orders.flatMap(([sort = '', prefix]) =>
    [1, lastPage].map((page): [string, string] => [
      `list ${sort}${prefix ? ' of a prefix' : ''} ${page === 1 ? 'first page' : 'last pages'}`,
      `${files}?pageSize=50&sort=${sort}&page=${page}&prefix=${prefix}`,
    ]),
  );
  const kilobyte = new Uint8Array(1_000).fill(65);
  const some = (turn: number) => pathOf(Math.floor((turn * count) / repetitions));
  const costs: Record<string, number> = {
    PUT: await median(target, (turn) =>
      send(target, { method: 'PUT', path: `${files}/new/${turn}`, body: kilobyte }),
    ),
    replace: await median(target, (turn) =>
      send(target, { method: 'PUT', path: `${files}/new/${turn}`, body: kilobyte }),
    ),
    GET: await median(target, (turn) =>
      send(target, { method: 'GET', path: `/cloud/${bucket}/new/${turn}` }),
    ),
    HEAD: await median(target, (turn) =>
      send(target, { method: 'HEAD', path: `/cloud/${bucket}/${some(turn)}` }),
    ),
    'GET of a missing file': await median(target, (turn) =>
      send(target, { method: 'GET', path: `/cloud/${bucket}/${some(turn)}/none` }),
    ),
  };
  for (const [name, path] of lists) {
    costs[name] = await median(target, () => send(target, { method: 'GET', path }));
  }
  costs.folders = await median(target, () =>
    send(target, { method: 'GET', path: `${files}?delimiter=/&prefix=photos/` }),
  );
  costs.usage = await median(target, () =>
    send(target, { method: 'GET', path: `/api/v1/bucket/${bucket}/usage?prefix=photos/20` }),
  );
  costs.DELETE = await median(target, (turn) =>
    send(target, { method: 'DELETE', path: `${files}/new/${turn}` }),
  );
  const { replica, canisterId, wasm } = target;
  await replica.upgrade(canisterId, wasm);
  const upgrade = replica.reports.findLast(({ kind }) => kind === 'postUpgrade');
  costs.post_upgrade = Number(upgrade?.instructions) / 1e6;
  return costs;
}

/** Opens the service in that folder and upgrades it to this Wasm. */
async function openTarget(stateDir: string, wasm: Uint8Array): Promise<Target> {
  const replica = await startReplica({ server: false, stateDir });
  const { canisterId, apiKey } = await deployLocally({ replica, stateDir, wasm });
  return { replica, canisterId, wasm, apiKey };
}

/** Fills the folder up to that number of files and measures. */
async function measureFolder(stateDir: string, count: number, wasm: Uint8Array): Promise<Costs> {
  let target = await openTarget(stateDir, wasm);
  const stored = await filesIn(target);
  if (stored < count) {
    await target.replica.stop();
    await fillFolder(stateDir, { from: stored, to: count });
    target = await openTarget(stateDir, wasm);
  }
  try {
    return await measureAt(target, count);
  } finally {
    await target.replica.stop();
  }
}

const resultsPath = join(projectDir, 'bench', 'scale.json');

interface Results {
  /** By number of files, and by number of entries. */
  readonly files: Readonly<Record<number, Costs>>;
  readonly entries: Readonly<Record<number, Costs>>;
}

async function writeResults(measured: Partial<Results>): Promise<void> {
  const former = JSON.parse(await readFile(resultsPath, 'utf8')) as Results;
  const results = { ...former, ...measured };
  await writeFile(resultsPath, `${JSON.stringify(results, null, 2)}\n`);
  const page = join(projectDir, 'docs/reference/costs.md');
  const withFiles = replaceTable(await readFile(page, 'utf8'), 'scale', formatScale(results.files));
  await writeFile(page, replaceTable(withFiles, 'journal', formatScale(results.entries)));
  await writeFile(join(projectDir, 'docs', 'growth.svg'), growthChart(results.files));
}

async function main(): Promise<void> {
  const options = { state: { type: 'string' }, journal: { type: 'boolean' } } as const;
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const largest = Number(positionals[0] ?? fileCounts.at(-1));
  const { wasmPath } = await buildCanister({ force: false });
  const wasm = new Uint8Array(await readFile(wasmPath));
  const files = values.journal ? undefined : await measureFiles(values.state, largest, wasm);
  await writeResults({ ...(files && { files }), entries: await measureJournals(wasm) });
}

async function measureFiles(state: string | undefined, largest: number, wasm: Uint8Array) {
  const folder = state ?? (await mkdtemp(join(tmpdir(), 'bench-scale-')));
  const results: Record<number, Costs> = {};
  try {
    let former: string | undefined;
    for (const count of fileCounts.filter((each) => each <= largest)) {
      former = await stateFolder(folder, count, former);
      results[count] = await measureFolder(former, count, wasm);
      console.log(`${count} files, millions of instructions:`, results[count]);
    }
    return results;
  } finally {
    if (state === undefined) await rm(folder, { recursive: true, force: true });
  }
}

await main();
