// The journal of a volume: the entries that changes make, the chain of their blocks (ICRC-3), and
// its certified end beside the answers over HTTP.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Cbor, Certificate, type HashTree, lookup_path, reconstruct } from '@icp-sdk/core/agent';
import { Principal } from '@icp-sdk/core/principal';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { buildCanister } from '../../scripts/build.ts';
import { leb128 } from '../../src/lib/leb128.ts';
import { type FileClient, openFileClient } from '../support/http-client.ts';
import { changeOf, keyFor, type Person, personOf } from '../support/people.ts';
import { openService, type Service, sha256Hex } from '../support/service.ts';

let service: Service;
let client: FileClient;
let owner: Person;

beforeAll(async () => {
  service = await openService({});
  client = openFileClient(service);
  owner = personOf(service, 'owner');
});
afterAll(() => service?.stop());

interface Entry {
  readonly seq: bigint;
  readonly at: bigint;
  readonly kind: string;
  readonly by: { principal?: Principal; apiKey?: string; canister?: null };
  readonly subject: string;
  readonly version: [] | [bigint];
  readonly digest: [] | [string];
  readonly proof: {
    readonly detailsSalt: Uint8Array;
    readonly subjectSalt: [Uint8Array];
    readonly subjectHash: [] | [Uint8Array];
  };
}

/** Returns the bytes to which a block commits besides the subject, as the reference says. */
function detailsOf({ by, version, digest }: Entry): Buffer {
  const kind = ['canister', 'principal', 'apiKey'].findIndex((name) => name in by);
  const id = by.principal?.toUint8Array() ?? Buffer.from(by.apiKey ?? '');
  const hash = Buffer.from(digest[0] ?? '', 'hex');
  const head = 64 * kind + (hash.length > 0 ? 32 : 0) + id.length;
  return Buffer.concat([Buffer.of(head), id, leb128(Number(version[0] ?? 0n)), hash]);
}

interface Page {
  readonly entries: readonly Entry[];
  readonly last: bigint;
  readonly hasMore: boolean;
}

function read(fields: { after?: bigint; before?: bigint; limit?: bigint } = {}, by = owner) {
  const optional = (value: bigint | undefined) => (value === undefined ? [] : [value]);
  return by.ask<Page>('readJournal', {
    bucketId: service.bucket,
    apiKey: [],
    after: optional(fields.after),
    before: optional(fields.before),
    limit: optional(fields.limit),
  });
}

/** Asks again while a new canister derives its keys. */
async function page(fields: Parameters<typeof read>[0] = {}): Promise<Page> {
  const { ok, err } = await vi.waitUntil(
    async () => {
      const answer = await read(fields);
      return answer.err?.startsWith('ServiceUnavailable') ? undefined : answer;
    },
    { timeout: 30_000 },
  );
  return ok ?? expect.fail(err);
}

type Value = { Text: string } | { Nat: bigint } | { Blob: Uint8Array };
interface Block {
  readonly id: bigint;
  readonly block: { readonly Map: readonly (readonly [string, Value])[] };
}

const sha256 = (...parts: Uint8Array[]) =>
  createHash('sha256').update(Buffer.concat(parts)).digest();

/** ICRC-3, "Representation-independent hash", for the values that blocks have. */
function hashOf(value: Value): Uint8Array {
  if ('Text' in value) return sha256(Buffer.from(value.Text));
  if ('Blob' in value) return sha256(value.Blob);
  const bytes: number[] = [];
  let left = value.Nat;
  for (; left >= 128n; left >>= 7n) bytes.push(Number(left & 127n) | 128);
  return sha256(Uint8Array.of(...bytes, Number(left)));
}

function hashOfBlock({ block }: Block): Buffer {
  const pairs = block.Map.map(([name, value]) =>
    Buffer.concat([sha256(Buffer.from(name)), hashOf(value)]),
  );
  return sha256(...pairs.sort(Buffer.compare));
}

async function blocks(by = owner): Promise<{ log_length: bigint; blocks: Block[] }> {
  return (await by.ask('icrc3_get_blocks', [{ start: 0n, length: 10_000n }])) as never;
}

describe('readJournal', () => {
  test('has an entry for each change, with its author', async () => {
    const before = (await page()).last;
    await client.put('j/a.txt', 'one');
    await client.put('j/a.txt', 'two');
    await client.send('DELETE', 'j/a.txt');
    const reader = await owner.get<{ id: string }>(
      'createApiKey',
      keyFor([service.bucket], ['read']),
    );
    await owner.get('revokeApiKey', reader.id);
    const guest = personOf(service, 7);
    const member = { principal: guest.principal, role: 'reader', name: [] };
    await owner.get('updateBucket', changeOf(service.bucket, { addMembers: [[member]] }));
    await owner.get('updateBucket', changeOf(service.bucket, { keepVersionsDays: [1n] }));
    const { entries, last, hasMore } = await page({ after: before });
    expect(hasMore).toBe(false);
    expect(entries.map(({ seq }) => seq)).toEqual(
      entries.map((_, index) => before + 1n + BigInt(index)),
    );
    expect(last).toBe(entries.at(-1)?.seq);
    expect(entries.map(({ kind, subject }) => [kind, subject.replaceAll('\0', ' ')])).toEqual([
      ['file.stored', 'j/a.txt'],
      ['file.stored', 'j/a.txt'],
      ['file.deleted', 'j/a.txt'],
      ['key.created', reader.id],
      ['key.revoked', reader.id],
      ['member.changed', `${guest.principal.toHex().toLowerCase()} reader`],
      ['bucket.changed', 'keepVersionsDays'],
    ]);
    expect(entries.slice(0, 3).map(({ version }) => version[0])).toEqual([1n, 2n, 2n]);
    expect(entries[1]?.digest).toEqual([sha256Hex(Buffer.from('two'))]);
    expect(entries[0]?.by).toHaveProperty('apiKey');
    expect(entries[3]?.by.principal?.toText()).toBe(owner.principal.toText());
  });

  test('pages in both directions meet every entry once, also beyond checkpoints', async () => {
    for (let index = 0; index < 150; index++) await client.put(`p/${index}`, 'x');
    const { last } = await page();
    const forward: bigint[] = [];
    for (let after = 0n, more = true; more; ) {
      const { entries, hasMore } = await page({ after, limit: 40n });
      forward.push(...entries.map(({ seq }) => seq));
      after = entries.at(-1)?.seq ?? after;
      more = hasMore;
    }
    const backward: bigint[] = [];
    for (let before = last + 1n, more = true; more; ) {
      const { entries, hasMore } = await page({ before, limit: 33n });
      backward.push(...entries.map(({ seq }) => seq));
      before = entries.at(-1)?.seq ?? before;
      more = hasMore;
    }
    expect(forward.at(-1)).toBe(last);
    expect(backward.toReversed()).toEqual(forward);
    expect(new Set(forward).size).toBe(forward.length);
  });

  test('refuses strangers, wrong limits and two directions', async () => {
    expect((await read({}, personOf(service, 9))).err).toMatch(/^AccessDenied/);
    expect((await read({ limit: 0n })).err).toMatch(/^InvalidArgument: limit is 0/);
    expect((await read({ limit: 5_001n })).err).toMatch(/^InvalidArgument: limit is 5001: send 1/);
    expect((await read({ after: 1n, before: 2n })).err).toMatch(/^InvalidArgument/);
  });
});

describe('redactEntries', () => {
  test('replaces paths by their hashes, for owners only, and notes it', async () => {
    await client.put('secret/plan.txt', 'x');
    const [entry] = (await page({ limit: 1n })).entries;
    const seq = entry?.seq ?? 0n;
    const stranger = personOf(service, 9);
    expect((await stranger.ask('redactEntries', service.bucket, [seq])).err).toMatch(
      /^AccessDenied/,
    );
    expect(await owner.get('redactEntries', service.bucket, [seq, 1_000_000n])).toBe(1n);
    expect(await owner.get('redactEntries', service.bucket, [seq])).toBe(0n);
    expect((await owner.ask('redactEntries', service.bucket, [])).err).toMatch(/^InvalidArgument/);
    const [note, redacted] = (await page({ limit: 2n })).entries;
    expect(note).toMatchObject({ kind: 'journal.redacted', subject: `${seq}` });
    const subjectSalt = entry?.proof.subjectSalt[0] ?? Buffer.of();
    const subjectHash = sha256(subjectSalt, Buffer.from('secret/plan.txt'));
    if (redacted === undefined) expect.fail('no entry');
    const { detailsSalt } = redacted.proof;
    expect(redacted).toMatchObject({ seq, subject: '', kind: 'file.stored' });
    expect(redacted?.proof.subjectSalt).toEqual([]);
    expect(redacted?.proof.subjectHash.map((hash) => Buffer.from(hash))).toEqual([subjectHash]);
    const { blocks: found } = await blocks();
    const fields = new Map(found[Number(seq) - 1]?.block.Map);
    expect((fields.get('entry') as { Blob: Uint8Array }).Blob).toEqual(
      new Uint8Array(sha256(detailsSalt, detailsOf(redacted), subjectHash)),
    );
  });
});

describe('GET B/journal', () => {
  test('returns entries to keys with audit and without a prefix', async () => {
    const keyOf = async (permissions: string[], prefix: string[] = []) => {
      const request = { ...keyFor([service.bucket], permissions), prefix };
      return (await owner.get<{ secret: string }>('createApiKey', request)).secret;
    };
    await client.put('j/http.txt', 'one');
    const audit = await keyOf(['audit']);
    const get = (key: string, query = '') =>
      fetch(`${service.base}/api/v1/bucket/${service.bucket}/journal${query}`, {
        headers: { Authorization: `Bearer ${key}` },
      });
    const answer = await get(audit, '?limit=2');
    expect(answer.status).toBe(200);
    const { items, last, hasMore } = (await answer.json()) as { items: object[] } & Page;
    expect(hasMore).toBe(true);
    expect(items).toMatchObject([
      { seq: Number(last), kind: 'key.created', by: { kind: 'principal' } },
      { kind: 'file.stored', subject: 'j/http.txt', by: { kind: 'apiKey' }, version: 1 },
    ]);
    expect(items[0]).toHaveProperty('by.id', owner.principal.toText());
    expect(items[1]).toHaveProperty('digest', sha256Hex(Buffer.from('one')));
    const all = (await (await get(audit, '?after=0&limit=100')).json()) as { items: object[] };
    const shown = (await page({ after: 0n, limit: 100n })).entries;
    expect(all.items.map((item) => (item as { seq: number }).seq)).toEqual(
      shown.map(({ seq }) => Number(seq)),
    );
    expect((await get(await keyOf(['read', 'write', 'delete', 'retain']))).status).toBe(403);
    expect((await get(await keyOf(['audit'], ['j/']))).status).toBe(403);
    expect((await get(audit, '?after=x')).status).toBe(400);
    const withKey = { bucketId: service.bucket, apiKey: [audit], after: [], before: [], limit: [] };
    const byStranger = await personOf(service, 9).ask<Page>('readJournal', withKey);
    expect(byStranger.ok?.last).toBeGreaterThanOrEqual(BigInt(last));
  });
});

describe('icrc3_get_blocks', () => {
  test('returns a chain that ends in the certified hash, and commits to every entry', async () => {
    const { log_length, blocks: found } = await blocks();
    expect(found).toHaveLength(Number(log_length));
    let before: Buffer | undefined;
    for (const [index, block] of found.entries()) {
      expect(block.id).toBe(BigInt(index));
      const fields = new Map(block.block.Map);
      const parent = fields.get('phash') as { Blob: Uint8Array } | undefined;
      expect(parent && Buffer.from(parent.Blob)).toEqual(before);
      before = hashOfBlock(block);
    }
    const tip = (await owner.ask('icrc3_get_tip_certificate')) as unknown as [
      { certificate: Uint8Array; hash_tree: Uint8Array },
    ];
    const [{ certificate, hash_tree }] = tip;
    const replica = service.replica ?? expect.fail('needs a replica');
    const verified = await Certificate.create({
      certificate: new Uint8Array(certificate),
      rootKey: replica.rootKey,
      principal: { canisterId: Principal.fromText(service.canisterId) },
    } as never);
    const tree = Cbor.decode<HashTree>(new Uint8Array(hash_tree));
    const root = await reconstruct(tree);
    const path = [
      'canister',
      Principal.fromText(service.canisterId).toUint8Array(),
      'certified_data',
    ];
    const data = verified.lookup_path(path as never) as { value: Uint8Array };
    expect(Buffer.from(data.value)).toEqual(Buffer.from(root));
    const valueAt = (label: string) =>
      Buffer.from(
        (lookup_path([new TextEncoder().encode(label)] as never, tree) as { value: Uint8Array })
          .value,
      );
    expect(valueAt('last_block_hash')).toEqual(before);
    expect(BigInt(`0x${valueAt('last_block_index').toString('hex')}`)).toBeGreaterThan(0n);
    const entries = (await page({ after: 0n })).entries;
    for (const entry of entries) {
      const { seq, subject, proof, kind, at } = entry;
      const fields = new Map(found[Number(seq) - 1]?.block.Map);
      const [hash] = proof.subjectHash;
      const subjectHash = hash ?? sha256(proof.subjectSalt[0], Buffer.from(subject));
      const commitment = sha256(proof.detailsSalt, detailsOf(entry), subjectHash);
      expect(Buffer.from((fields.get('entry') as { Blob: Uint8Array }).Blob)).toEqual(commitment);
      expect(fields.get('btype')).toEqual({ Text: `efs.${kind}` });
      expect(fields.get('ts')).toEqual({ Nat: at });
    }
  });

  test('shows strangers the length of the chain, but no block', async () => {
    const { log_length, blocks: found } = await blocks(personOf(service, 9));
    expect(log_length).toBeGreaterThan(0n);
    expect(found).toEqual([]);
  });
});

describe('an upgrade', () => {
  test('keeps entries, chain and certified end', async () => {
    const before = { page: await page(), blocks: await blocks() };
    const replica = service.replica ?? expect.fail('needs a replica of its own');
    const { wasmPath } = await buildCanister({ force: false });
    const wasm = new Uint8Array(await readFile(wasmPath));
    await replica.upgrade(service.canisterId, wasm, undefined, {
      sender: owner.principal,
    } as never);
    // Keys arrive soon after the upgrade
    await expect
      .poll(() => page().catch(() => undefined), { timeout: 30_000 })
      .toEqual(before.page);
    expect(await blocks()).toEqual(before.blocks);
  });
});
