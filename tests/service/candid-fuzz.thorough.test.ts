// Random bytes and Candid to every method: each gets an answer or an error with a reason, never a
// crash or an exceeded instruction limit; a refused call changes nothing in stable memory.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Replica, startReplica } from '../../packages/replica/src/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import { deployLocally, principalOf } from '../../scripts/local-service.ts';
import { type DidMethod, readInterface, type Vocabulary } from '../support/model-interface.ts';
import { copyPreparedState } from '../support/prepared-state.ts';
import { seedOr } from '../support/seed.ts';

const seed = seedOr(20_260_102);
const typedPerMethod = 8;
const damagedPerMethod = 6;
const crash =
  /Uncaught|unreachable|Assert|out of bounds|exceeded|heap|InternalError|(?:Type|Reference)Error/i;

let folder: string;
let replica: Replica;
let canisterId: string;
let owner: Principal;
let methods: DidMethod[];
let vocabulary: Vocabulary;
const outcomes = new Map<string, number>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'candid-fuzz-'));
  const wasm = new Uint8Array(await readFile((await buildCanister({ force: false })).wasmPath));
  // The clock stands still, so no timer writes between two looks at stable memory.
  const nowNs = BigInt(Date.now()) * 1_000_000n + 234n;
  const stateDir = join(folder, 'state');
  await copyPreparedState(stateDir);
  replica = await startReplica({ server: false, stateDir, sync: false, now: () => nowNs });
  const service = await deployLocally({ replica, stateDir, wasm });
  canisterId = service.canisterId;
  owner = principalOf(service.identityPem);
  const uploadId = await beginUpload();
  const digest = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
  const names = ['demo', 'demo', 'demo', '/a.txt', '/a/ü.bin', 'text/plain', uploadId, uploadId];
  const words = ['read', 'write', 'editor', 'viewer', 'name_asc', 'GET', 'PUT', 'DELETE'];
  const urls = ['/', '/cloud/demo/a.txt', '/api/v1/bucket/demo/files/a.txt', '/api/v1/status?x=%'];
  const texts = [...names, ...words, ...urls, service.apiKey, digest, 'Range', 'Authorization'];
  const others = [new Uint8Array(0), new Uint8Array(29).fill(7), Uint8Array.of(1, 2, 3)];
  const people = others.map((bytes) => Principal.fromUint8Array(bytes));
  vocabulary = { texts, principals: [owner, Principal.anonymous(), ...people] };
  methods = readInterface(vocabulary);
});

afterAll(async () => {
  console.log(`seed ${seed}: ${JSON.stringify(Object.fromEntries([...outcomes].sort()))}`);
  await replica?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function beginUpload(): Promise<string> {
  const types = [IDL.Text, IDL.Text, IDL.Text, IDL.Nat, IDL.Opt(IDL.Text)];
  const argument = IDL.encode(types, ['demo', '/a.txt', 'text/plain', 100n, []]);
  const reply = await replica.call(canisterId, 'beginFileUpload', argument, { sender: owner });
  const [begun] = IDL.decode([IDL.Variant({ ok: IDL.Text, err: IDL.Text })], reply);
  return (begun as { ok?: string }).ok ?? expect.fail(JSON.stringify(begun));
}

function stableImage(): Buffer {
  const { bytes, read } = replica.stableMemory(canisterId);
  return Buffer.from(read(0, bytes));
}

interface Attempt {
  readonly method: DidMethod;
  readonly argument: Uint8Array;
  readonly sender: Principal;
}

type Outcome = 'ok' | 'err' | 'reject';

async function attempt({ method, argument, sender }: Attempt): Promise<Outcome> {
  const send = method.isQuery ? replica.query : replica.call;
  let reply: Uint8Array;
  try {
    reply = await send(canisterId, method.name, argument, { sender });
  } catch (error) {
    const { message } = error as Error;
    // The inspection or the method refuses
    const words =
      /message: '(?:[A-Z]\w+: |\w+ does not accept this message)|\w+(?:: (?:the )?argument| takes \()|^[A-Z]\w+: .{20}/;
    expect(message).toMatch(words);
    expect(message).not.toMatch(crash);
    return 'reject';
  }
  const [result] = IDL.decode(method.results, reply) as [object | string];
  // getApiDoc has no errors either
  if (typeof result === 'string') return 'ok';
  if ('status_code' in result) {
    expect(result.status_code).toBeLessThan(500);
    return 'upgrade' in result || Number(result.status_code) < 400 ? 'ok' : 'err';
  }
  // ICRC-3 defines these replies, which have no errors
  if (method.name.startsWith('icrc3_')) return 'ok';
  if ('ok' in result) return 'ok';
  expect(result).toEqual({ err: expect.stringMatching(/^[A-Z][A-Za-z]+: ./) });
  expect(JSON.stringify(result)).not.toMatch(crash);
  return 'err';
}

/** Runs the attempts in order; those that are refused must write no page of stable memory. */
async function attemptAll(kind: string, attempts: readonly Attempt[]): Promise<void> {
  const failures: string[] = [];
  for (const one of attempts) {
    const { method, argument, sender } = one;
    const first = replica.reports.length;
    const { outcome, failure } = await attempt(one).then(
      (outcome) => ({ outcome, failure: undefined }),
      (failure: unknown) => ({ outcome: 'reject', failure }),
    );
    const name = `${kind} ${method.isQuery ? 'query' : 'update'} ${outcome}`;
    outcomes.set(name, (outcomes.get(name) ?? 0) + 1);
    const pages = replica.reports.slice(first).reduce((sum, report) => sum + report.stablePages, 0);
    const isClean = pages === 0 || (outcome === 'ok' && !method.isQuery);
    if (failure === undefined && isClean) continue;
    const who = sender.isAnonymous() ? 'anonymous' : 'owner';
    const hex = Buffer.from(argument).toString('hex').slice(0, 1_000);
    const where = `${method.name} by ${who}, ${argument.length} bytes ${hex}`;
    failures.push(`${where}: ${failure ?? `${outcome}, but it wrote ${pages} pages`}`);
  }
  expect(failures, `seed ${seed}`).toEqual([]);
}

/** Each method gets a different seed. */
function seedOf(method: DidMethod): number {
  return seed + methods.indexOf(method);
}

function senders(index: number): Principal {
  return index % 2 === 0 ? owner : Principal.anonymous();
}

function typedArguments(method: DidMethod, count: number): Uint8Array[] {
  const options = { seed: seedOf(method), numRuns: count };
  return fc.sample(method.values, options).map((values) => {
    return new Uint8Array(IDL.encode(method.parameters, values));
  });
}

/** Returns truncated, extended, changed or random bytes; some of the random ones follow `DIDL`. */
function damagedArguments(method: DidMethod): Uint8Array[] {
  const damage = fc.record({
    kind: fc.nat({ max: 4 }),
    noise: fc.uint8Array({ minLength: 1, maxLength: 60 }),
    places: fc.array(fc.nat(), { minLength: 1, maxLength: 3 }),
  });
  const whole = typedArguments(method, damagedPerMethod);
  return fc
    .sample(damage, { seed: seedOf(method), numRuns: damagedPerMethod })
    .map((item, index) => {
      const bytes = Buffer.from(whole[index] ?? []);
      const [place = 0] = item.places;
      if (item.kind === 0) return new Uint8Array(bytes.subarray(0, place % bytes.length));
      if (item.kind === 1) return new Uint8Array(Buffer.concat([bytes, item.noise]));
      if (item.kind === 2) return item.noise;
      if (item.kind === 3) return new Uint8Array(Buffer.concat([Buffer.from('DIDL'), item.noise]));
      item.places.forEach((at, turn) => {
        bytes[at % Math.min(bytes.length, 120)] = item.noise[turn] ?? 0xff;
      });
      return new Uint8Array(bytes);
    });
}

function countDone(): number {
  return outcomes.get('damaged update ok') ?? 0;
}

test('well-typed arguments of any kind get an answer or an error with a reason', async () => {
  expect(methods.map(({ name }) => name)).toContain('uploadFileChunkIndexed');
  const attempts = methods.flatMap((method) =>
    typedArguments(method, typedPerMethod).map((argument, index) => {
      return { method, argument, sender: senders(index) };
    }),
  );
  await attemptAll('typed', attempts);
});

test('damaged Candid gets an error with a reason, or the answer to the message that it became', async () => {
  const before = stableImage();
  const done = countDone();
  const attempts = methods.flatMap((method) =>
    damagedArguments(method).map((argument, index) => {
      return { method, argument, sender: senders(index) };
    }),
  );
  await attemptAll('damaged', attempts);
  // Stable memory stays equal, unless a damaged call turned out valid
  if (countDone() === done) expect(stableImage().equals(before)).toBe(true);
});
