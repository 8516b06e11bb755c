// The journal's changes as they happen, through the client library, on the real canister.

import { IDL } from '@dfinity/candid';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import type { JournalEntry } from '../../packages/client/src/types/journal.ts';
import { ResultJournalPage } from '../../src/actor/candid/journal.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { startProxy } from './unreliable-proxy.ts';

const bucket = 'watched';

let service: Service;
let owner: Storage;
let stop: AbortController | undefined;

beforeAll(async () => {
  service = await openService({ faults: {} });
  owner = openAt(service.host);
  await owner.buckets.create(bucket);
});
afterEach(() => {
  stop?.abort();
  service.replica?.setFaults({});
});
afterAll(() => service?.stop());

function openAt(host: string): Storage {
  const { canisterId, identityPem } = service;
  const retry = { attemptsMax: 30, delayMsMin: 10, delayMsMax: 100 };
  return createStorage({ host, canisterId, identity: identityFromPem(identityPem), retry });
}

const store = (path: string) => owner.upload(sampleBytes(path, 100), { bucket, path });

type Watching = Parameters<Storage['journal']['watch']>[1];

/** Returns the entries, which grow, and the end of the watching. */
function watch(options: Watching = {}, storage = owner) {
  stop?.abort();
  stop = new AbortController();
  const entries: JournalEntry[] = [];
  const wanted = { intervalMs: 100, signal: stop.signal, ...options };
  const ended = (async () => {
    for await (const entry of storage.journal.watch(bucket, wanted)) entries.push(entry);
  })();
  ended.catch(() => {});
  return { entries, ended };
}

async function allEntries(after = 0): Promise<JournalEntry[]> {
  const found: JournalEntry[] = [];
  for await (const entry of owner.journal.entries(bucket, { after })) found.push(entry);
  return found;
}

describe('Storage.journal.watch()', () => {
  test('yields each entry once and in order, then later ones, and ends with the signal', async () => {
    for (let file = 0; file < 5; file++) await store(`early/${file}`);
    const { entries, ended } = watch({ after: 0 });
    await expect.poll(() => entries.length).toBeGreaterThanOrEqual(6);
    for (let file = 0; file < 3; file++) await store(`late/${file}`);
    await expect.poll(() => entries.at(-1)?.path).toBe('late/2');
    expect(entries).toEqual(await allEntries());
    stop?.abort();
    await ended;
  });

  test('begins with the present, and continues after a given entry', async () => {
    const { last } = await owner.journal.list(bucket, { limit: 1 });
    const { entries, ended } = watch();
    await vi.waitFor(
      async () => {
        await store('now');
        expect(entries).not.toEqual([]);
      },
      { timeout: 60_000, interval: 300 },
    );
    stop?.abort();
    await ended;
    expect(entries.every(({ seq, path }) => seq > last && path === 'now')).toBe(true);
    const [first] = entries;
    const later = watch({ after: first?.seq ?? 0 });
    const rest = await allEntries(first?.seq ?? 0);
    await expect.poll(() => later.entries.length).toBeGreaterThanOrEqual(rest.length);
    expect(later.entries).toEqual(rest);
  });

  test('yields only the wanted kinds and paths, also those that a file had before', async () => {
    await store('a/one');
    await store('b/two');
    await owner.move({ bucket, path: 'a/one' }, { path: 'c/one' });
    await owner.remove({ bucket, path: 'b/two' });
    await store('a/last');
    const moved = watch({ after: 0, prefix: 'a/', kinds: ['file.moved', 'file.deleted'] });
    await expect.poll(() => moved.entries.length).toBe(1);
    expect(moved.entries).toMatchObject([{ path: 'c/one', formerPath: 'a/one' }]);
    const stored = watch({ after: 0, prefix: 'a/' });
    await expect.poll(() => stored.entries.at(-1)?.path).toBe('a/last');
    expect(stored.entries.map(({ kind }) => kind)).toEqual([
      'file.stored',
      'file.moved',
      'file.stored',
    ]);
  });

  test('skips and repeats no entry over a network that loses and repeats answers', async () => {
    const proxy = await startProxy(service.host);
    const { last } = await owner.journal.list(bucket, { limit: 1 });
    const { entries } = watch({ after: last }, openAt(proxy.url));
    proxy.faults = {
      ...{ loseRequest: 0.2, loseAnswer: 0.2, sendTwice: 0.2, refuse: 0.1, delayMsMax: 50 },
    };
    for (let file = 0; file < 20; file++) await store(`lossy/${file}`);
    await expect.poll(() => entries.at(-1)?.path).toBe('lossy/19');
    expect(entries).toEqual(await allEntries(last));
    expect(Object.values(proxy.counts).some((count) => count > 0)).toBe(true);
    stop?.abort();
    await proxy.stop();
  });

  test('fails if a node returns an entry again, and refuses an impossible interval', async () => {
    type Page = { ok: { entries: { seq: bigint }[] } };
    service.replica?.setFaults({
      forge({ method }, reply) {
        if (method !== 'readJournal') return undefined;
        const [{ ok }] = IDL.decode([ResultJournalPage], reply as never) as unknown as [Page];
        const entries = ok.entries.slice(0, 1).concat(ok.entries);
        return new Uint8Array(IDL.encode([ResultJournalPage], [{ ok: { ...ok, entries } }]));
      },
    });
    const { entries, ended } = watch({ after: 0 });
    await expect(ended).rejects.toMatchObject({ code: 'IntegrityError' });
    expect(entries).toHaveLength(1);
    service.replica?.setFaults({});
    const hurried = watch({ intervalMs: 0 }).ended;
    await expect(hurried).rejects.toMatchObject({ code: 'InvalidArgument' });
  });

  test('asks less often while nothing changes', async () => {
    let asked = 0;
    service.replica?.setFaults({
      forge({ method }) {
        if (method === 'readJournal') asked += 1;
        return undefined;
      },
    });
    const { last } = await owner.journal.list(bucket, { limit: 1 });
    asked = 0;
    const startMs = performance.now();
    watch({ after: last, intervalMs: 100 });
    await expect.poll(() => asked).toBeGreaterThanOrEqual(5);
    // The pauses before the fifth request last 100, 200, 400 and 800 ms, whatever the machine does.
    expect(performance.now() - startMs).toBeGreaterThan(1_400);
  });
});
