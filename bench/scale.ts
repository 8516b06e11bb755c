// `npm run bench:scale`: what requests cost with few files in a bucket and with many. Takes
// minutes; writes bench/scale.json. Nothing may grow with the number of files.

import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { IDL } from '@dfinity/candid';
import { type Replica, startReplica } from '../replica/replica.ts';
import { buildCanister } from '../scripts/build.ts';
import { createDemoKey, newIdentity, principalOf } from '../scripts/local-service.ts';
import { growthChart } from './growth-chart.ts';
import { type Costs, formatScale, replaceTable } from './table.ts';

const projectDir = join(dirname(fileURLToPath(import.meta.url)), '..');
const fileCounts = [1_000, 10_000, 100_000];
const largest = Number(process.argv[2] ?? fileCounts.at(-1));
const repetitions = 9;
const bucket = 'demo';

const HeaderField = IDL.Tuple(IDL.Text, IDL.Text);
const Request = IDL.Record({
  method: IDL.Text,
  url: IDL.Text,
  headers: IDL.Vec(HeaderField),
  body: IDL.Vec(IDL.Nat8),
});
const Response = IDL.Record({ status_code: IDL.Nat16, upgrade: IDL.Opt(IDL.Bool) });

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

async function send(target: Target, sent: Sent): Promise<void> {
  const { method, path, body = new Uint8Array(0) } = sent;
  const { replica, canisterId, apiKey } = target;
  // As a browser fetches public files.
  const key = path.startsWith('/cloud/') ? [] : [['authorization', `Bearer ${apiKey}`]];
  const headers = [['host', 'localhost'], ...key, ['content-type', 'text/plain']];
  const argument = IDL.encode([Request], [{ method, url: path, headers, body }]);
  const isChange = method === 'PUT' || method === 'DELETE';
  const reply = isChange
    ? await replica.call(canisterId, 'http_request_update', argument)
    : await replica.query(canisterId, 'http_request', argument);
  const [response] = IDL.decode([Response], reply) as unknown as [
    { status_code: number; upgrade: [] | [boolean] },
  ];
  const isUnexpected = response.status_code >= 400 && !path.endsWith('/none');
  if (isUnexpected || response.upgrade[0] === true) {
    throw new Error(`${method} ${path} answered ${response.status_code}`);
  }
}

/** Names as users have them: folders, and numbers that do not come in order. */
function pathOf(index: number): string {
  const scattered = (index * 7_919) % 1_000_003;
  return `photos/${2_000 + (scattered % 25)}/img_${String(scattered).padStart(7, '0')}.jpg`;
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
  const files = `/api/v1/bucket/${bucket}/files`;
  const lastPage = Math.max(1, Math.floor(count / 50) - 10);
  const lists = ['name_asc', 'name_desc', 'date_asc', 'date_desc'].flatMap((sort) =>
    [1, lastPage].map((page): [string, string] => [
      `list ${sort} ${page === 1 ? 'first page' : 'last pages'}`,
      `${files}?pageSize=50&sort=${sort}&page=${page}&prefix=photos/20`,
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
    'GET, not there': await median(target, (turn) =>
      send(target, { method: 'GET', path: `/cloud/${bucket}/${some(turn)}/none` }),
    ),
  };
  for (const [name, path] of lists) {
    costs[name] = await median(target, () => send(target, { method: 'GET', path }));
  }
  costs.DELETE = await median(target, (turn) =>
    send(target, { method: 'DELETE', path: `${files}/new/${turn}` }),
  );
  const { replica, canisterId, wasm } = target;
  await replica.upgrade(canisterId, wasm);
  const upgrade = replica.reports.findLast(({ kind }) => kind === 'postUpgrade');
  costs.post_upgrade = Number(upgrade?.instructions) / 1e6;
  return costs;
}

async function main(): Promise<void> {
  const { wasmPath } = await buildCanister({ force: false });
  const wasm = new Uint8Array(await readFile(wasmPath));
  const replica = await startReplica({ server: false });
  const identity = newIdentity();
  const created = await replica.createCanister({
    controllers: [principalOf(identity)],
    cycles: 10n ** 16n,
  });
  const canisterId = created.toText();
  await replica.install(canisterId, wasm);
  const apiKey = await createDemoKey(replica, canisterId, identity);
  const target = { replica, canisterId, wasm, apiKey };
  const results: Record<number, Costs> = {};
  let stored = 0;
  for (const count of fileCounts.filter((each) => each <= largest)) {
    for (; stored < count; stored++) {
      const path = `/api/v1/bucket/${bucket}/files/${pathOf(stored)}`;
      await send(target, { method: 'PUT', path, body: Uint8Array.of(stored) });
    }
    results[count] = await measureAt(target, count);
    console.log(`${count} files, millions of instructions:`, results[count]);
  }
  const path = join(projectDir, 'bench', 'scale.json');
  await writeFile(path, `${JSON.stringify(results, null, 2)}\n`);
  const readme = join(projectDir, 'README.md');
  const table = formatScale(results);
  await writeFile(readme, replaceTable(await readFile(readme, 'utf8'), 'scale', table));
  await writeFile(join(projectDir, 'docs', 'growth.svg'), growthChart(results));
  await replica.stop();
}

await main();
