// `npm run bench:service`: the cycles of a front with several volumes that nobody uses, and the
// time in which a client finds a bucket among 16 volumes on a network as slow as the real one.
// Writes two tables in docs/reference/costs.md; `-- idle` and `-- search` measure only one of them.

import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import { identityFromPem } from '../packages/client/src/node/identity.ts';
import { createServiceStorage } from '../packages/client/src/service-storage.ts';
import { createStorage } from '../packages/client/src/storage.ts';
import type { MessageReport } from '../packages/replica/src/core.ts';
import { ServiceOfVolumes } from '../tests/support/service-of-volumes.ts';
import { replaceTable } from './table.ts';

const document = join(dirname(fileURLToPath(import.meta.url)), '../docs/reference/costs.md');
const idleVolumes = 4;
const idleDays = 10;
const daySeconds = 86_400;
/** Less than the shortest interval of a timer. */
const stepSeconds = 300;
const searchedVolumes = 16;
const turns = 15;

type Row = readonly [name: string, measured: string];

const trillions = (cyclesPerDay: number) => `${((cyclesPerDay * 365.25) / 1e12).toFixed(3)} T`;

interface Idle {
  /** Cycles a day for memory, as `canister_status` returns them. */
  readonly memory: number;
  /** All cycles by which the balance falls a day. */
  readonly whole: number;
  readonly messages: ReadonlyMap<string, { readonly count: number; readonly cycles: number }>;
}

async function memoryCycles({ replica, controller }: ServiceOfVolumes, id: Principal) {
  const Status = IDL.Record({ idle_cycles_burned_per_day: IDL.Nat });
  const argument = IDL.encode([IDL.Record({ canister_id: IDL.Principal })], [{ canister_id: id }]);
  const sender = { sender: controller };
  const reply = await replica.call('aaaaa-aa', 'canister_status', argument, sender);
  const [status] = IDL.decode([Status], reply) as unknown as [
    { readonly idle_cycles_burned_per_day: bigint },
  ];
  return Number(status.idle_cycles_burned_per_day);
}

function balances({ replica }: ServiceOfVolumes): Map<string, number> {
  return new Map(replica.canisters().map(({ id, cycles }) => [id.toText(), Number(cycles)]));
}

/** Sums the messages of a canister by kind and method. */
function messagesOf(id: string, reports: readonly MessageReport[]): Idle['messages'] {
  const sums = new Map<string, { count: number; cycles: number }>();
  for (const { canisterId, kind, method, cycles } of reports) {
    if (canisterId !== id) continue;
    const name = `${kind} ${method}`.trim();
    const sum = sums.get(name) ?? { count: 0, cycles: 0 };
    sums.set(name, { count: sum.count + 1, cycles: sum.cycles + Number(cycles) });
  }
  return sums;
}

/** Lets days pass by the replica's clock, after one that ends what the installation began. */
async function measureIdle(): Promise<readonly Row[]> {
  const reports: MessageReport[] = [];
  const service = new ServiceOfVolumes();
  await service.start(idleVolumes, { onReport: (report) => void reports.push(report) });
  const pass = async (days: number) => {
    for (let left = days * daySeconds; left > 0; left -= stepSeconds) {
      await service.wait(stepSeconds);
    }
  };
  try {
    for (let bucket = 0; bucket < idleVolumes; bucket++) await service.create(`bucket-${bucket}`);
    await pass(1);
    reports.length = 0;
    const before = balances(service);
    await pass(idleDays);
    const after = balances(service);
    const idle = new Map<string, Idle>();
    for (const id of [service.frontId, ...service.volumes]) {
      const [name, memory] = [id.toText(), await memoryCycles(service, id)];
      const whole = ((before.get(name) ?? 0) - (after.get(name) ?? 0)) / idleDays;
      idle.set(name, { memory, whole, messages: messagesOf(name, reports) });
    }
    return idleRows(service, idle);
  } finally {
    await service.stop();
  }
}

function idleRows(
  { frontId, volumes }: ServiceOfVolumes,
  idle: ReadonlyMap<string, Idle>,
): readonly Row[] {
  const front = idle.get(frontId.toText()) as Idle;
  const volume = idle.get(volumes[0]?.toText() ?? '') as Idle;
  const all = [...idle.values()].reduce((sum, { whole }) => sum + whole, 0);
  for (const [name, { messages }] of Object.entries({ front, volume })) {
    for (const [message, { count, cycles }] of messages) {
      const each = (cycles / count / 1e6).toFixed(2);
      console.log(`${name}, ${message}: ${count / idleDays} a day, ${each} M cycles each`);
    }
  }
  return [
    [`a front and ${idleVolumes} volumes, idle for a year`, trillions(all)],
    ['the front: memory', trillions(front.memory)],
    ['the front: timers and calls', trillions(front.whole - front.memory)],
    ['a volume: memory', trillions(volume.memory)],
    ['a volume: timers and calls', trillions(volume.whole - volume.memory)],
  ];
}

/** Returns the milliseconds that `work` takes, the shortest first. */
async function timed(work: (turn: number) => Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const started = performance.now();
    await work(turn);
    times.push(performance.now() - started);
  }
  return times.sort((one, two) => one - two);
}

const median = (sorted: readonly number[]) => sorted[Math.floor(sorted.length / 2)] ?? 0;

async function openVolumes(service: ServiceOfVolumes): Promise<void> {
  for (let turn = 0; turn < 120; turn++) {
    if ((await service.listed()).every(({ state }) => state === 'open')) return;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  throw new Error('The volumes have not reported their buckets.');
}

/** Compares finding a bucket with a query to a known volume, each by new and used clients. */
async function measureSearch(): Promise<readonly Row[]> {
  const service = new ServiceOfVolumes();
  await service.start(searchedVolumes, { isOnline: true, profile: 'mainnet', seed: 1 });
  try {
    await openVolumes(service);
    for (let turn = 0; turn <= turns; turn++) await service.create(`bucket-${turn}`);
    const { url: host } = service.replica;
    const identity = identityFromPem(service.controllerPem);
    const front = service.frontId.toText();
    const whole = () => createServiceStorage({ host, front, identity });
    const at = (canisterId: string) => createStorage({ host, canisterId, identity });
    const known = await whole().volumeOf('bucket-0');
    const used = at(known);
    const volumes = service.volumes.map((id) => at(id.toText()));
    const ask = (turn: number) =>
      Promise.all(volumes.map(({ buckets }) => buckets.get(`bucket-${turn}`).catch(() => null)));
    await used.buckets.get('bucket-0');
    await ask(0);
    const fresh = whole();
    await fresh.volumeOf('bucket-0');
    const times = {
      'a query to a known volume, new client': await timed(() => at(known).buckets.get('bucket-0')),
      'a query to a known volume': await timed(() => used.buckets.get('bucket-0')),
      [`queries to ${searchedVolumes} known volumes at once`]: await timed((turn) => ask(turn)),
      'finding a bucket, new client': await timed((turn) => whole().volumeOf(`bucket-${turn}`)),
      'finding another bucket': await timed((turn) => fresh.volumeOf(`bucket-${turn + 1}`)),
      'the list of volumes': await timed(() => fresh.volumes.list()),
      'the volume of a bucket found before': await timed(() => fresh.volumeOf('bucket-0')),
    };
    return Object.entries(times).map(([name, sorted]) => {
      const [least = 0, most = 0] = [sorted[0], sorted.at(-1)];
      const range = `${Math.round(least)} to ${Math.round(most)}`;
      return [name, `${Math.round(median(sorted))} ms (${range})`];
    });
  } finally {
    await service.stop();
  }
}

const parts = { idle: measureIdle, search: measureSearch };

async function main(only: string | undefined): Promise<void> {
  for (const [name, measure] of Object.entries(parts)) {
    if (only !== undefined && only !== name) continue;
    const lines = [['service', 'measured'], ['---', '---'], ...(await measure())];
    const table = lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
    console.log(table);
    await writeFile(document, replaceTable(await readFile(document, 'utf8'), name, table));
  }
}

await main(process.argv[2]);
