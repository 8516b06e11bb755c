// The modes of buckets: whether a bucket is end-to-end, and the recipients of its files.
//
// A single node answers a query and could invent the answer. A mode for writing therefore comes
// from a reply that the network signs. Within an hour of such a reply, a query with the same digest
// suffices, so that most uploads do not wait for an update. Over HTTP nothing is signed, so the
// digest must be one that the caller has pinned.
//
// A mode for reading may come from a query. A reader with a false mode cannot decrypt, and reveals
// paths only if it has never learned that the bucket seals names.

import { byRule, type Connection, perform } from './connection/connection.ts';
import { unlessAborted } from './connection/parallel.ts';
import type { Signal, Transport } from './connection/transport.ts';
import { administrationRows } from './operations/administration.ts';
import type { BucketMode } from './operations/service.ts';
import type { NamesUse } from './sealed-names/bucket-names.ts';
import { abortedError, isStorageError, StorageError } from './storage-error.ts';
import type {
  BucketMemory,
  EndToEndOptions,
  EndToEndRecord,
  RecipientsChange,
} from './types/end-to-end.ts';
import { notEndToEnd, recipientsDigest } from './types/recipients-digest.ts';

type ModeSettings = Pick<EndToEndOptions, 'pinnedRecipients' | 'memory' | 'acceptRecipients'>;

interface Found {
  /** Undefined if the bucket is not end-to-end. */
  readonly mode: EndToEndRecord | undefined;
  readonly digest: string;
}

interface Cached<T> {
  readonly found: Promise<T>;
  readonly untilMs: number;
}

/** Cache time of a mode in this process. If a bucket has files, only its recipients can change. */
const modeKnownMs = 300_000;
/** For this time after a signed reply, a query with the same answer replaces an update. */
const signedKnownMs = 3_600_000;

export class BucketModes {
  readonly #connection: Connection;
  readonly #settings: ModeSettings;
  readonly #memory: BucketMemory;
  readonly #found = new Map<string, Cached<Found>>();
  readonly #queried = new Map<string, Cached<BucketMode>>();
  readonly #refused = new Map<string, { readonly error: unknown; readonly untilMs: number }>();
  /** Buckets whose mode has changed: a query may still return the former one. */
  readonly #changed = new Set<string>();
  /** Digests that the caller has accepted. */
  readonly #accepted = new Map<string, string>();

  constructor(connection: Connection, settings: ModeSettings) {
    this.#connection = connection;
    this.#settings = settings;
    this.#memory = settings.memory ?? processMemory();
  }

  /**
   * Returns the mode for writing; undefined if the bucket is not end-to-end. Throws Untrusted if
   * the recipients are not the pinned ones, or if the bucket has ceased to be end-to-end.
   */
  async of(bucket: string, signal?: Signal): Promise<EndToEndRecord | undefined> {
    const { mode, digest: actual } = await this.#find(bucket, signal);
    const expected = this.#pinnedOf(bucket) ?? actual;
    if (expected !== actual) await this.#accept({ bucket, expected, actual });
    return mode;
  }

  /** Returns the mode for reading, possibly from a query. */
  async ofReader(bucket: string, signal?: Signal): Promise<EndToEndRecord | undefined> {
    const { verifier } = this.#connection.transport;
    if (verifier !== undefined && this.#found.has(bucket)) {
      return (await this.#find(bucket, signal)).mode;
    }
    const known = verifier && (await this.#memory.get(bucket));
    const expected = known?.recipientsDigest;
    try {
      const mode = modeOf(await this.queried(bucket, signal));
      if (expected === undefined || expected === (await recipientsDigest(mode))) return mode;
    } catch (error) {
      // A node could have invented the refusal, and a reader without a mode sends plain paths.
      if (expected === undefined || expected === notEndToEnd || !isLasting(error)) throw error;
    }
    return (await this.#findOrRefuse(bucket, signal)).mode;
  }

  /** Like #find(); a lasting refusal, which takes an update, counts as long as a mode. */
  async #findOrRefuse(bucket: string, signal: Signal): Promise<Found> {
    const refused = this.#refused.get(bucket);
    if (refused !== undefined && Date.now() < refused.untilMs) throw refused.error;
    try {
      return await this.#find(bucket, signal);
    } catch (error) {
      if (isLasting(error)) this.#refused.set(bucket, { error, untilMs: Date.now() + modeKnownMs });
      throw error;
    }
  }

  /** Like `ofReader`, but assumes a mode if that fails: readers of a public bucket may not ask. */
  ofAgeFile(bucket: string): Promise<EndToEndRecord | undefined> {
    return this.ofReader(bucket).catch(() => unknownMode);
  }

  forNames(bucket: string, use: NamesUse, signal: Signal): Promise<EndToEndRecord | undefined> {
    return use === 'name' ? this.of(bucket, signal) : this.ofReader(bucket, signal);
  }

  /** Returns the mode from a query, which nothing verifies. */
  queried(bucket: string, signal?: Signal): Promise<BucketMode> {
    return cached(this.#queried, { bucket, signal }, () =>
      perform(this.#connection, 'getEndToEnd', bucket, undefined),
    );
  }

  /** Drops the cached mode; the next one for writing comes from a signed reply. */
  forget(bucket: string): void {
    this.#changed.add(bucket);
    this.#found.delete(bucket);
    this.#queried.delete(bucket);
    this.#refused.delete(bucket);
  }

  #find(bucket: string, signal: Signal): Promise<Found> {
    return cached(this.#found, { bucket, signal }, async () => {
      const { verifier, administration } = this.#connection.transport;
      if (verifier === undefined) return this.#unsigned(bucket);
      try {
        return await this.#verified(await verifier(), bucket);
      } catch (error) {
        // Asks again over HTTP, whose error names missing headers and has a request id.
        if (administration === undefined && isLasting(error)) await this.queried(bucket);
        throw error;
      }
    });
  }

  async #verified(verified: Transport, bucket: string): Promise<Found> {
    const known = await this.#memory.get(bucket);
    const isChanged = this.#changed.delete(bucket);
    const ageMs = known === undefined ? Number.NaN : Date.now() - known.signedAtMs;
    // A time in the future comes from a clock that was ahead.
    const isRecent = ageMs >= 0 && ageMs < signedKnownMs;
    const quick = isRecent && !isChanged ? await this.#query(verified, bucket) : undefined;
    if (quick !== undefined && quick.digest === known?.recipientsDigest) return quick;
    const found = await this.#signed(verified, bucket).catch((error) => {
      this.#changed.add(bucket);
      throw error;
    });
    const expected = known?.recipientsDigest ?? notEndToEnd;
    if (found.mode === undefined && expected !== notEndToEnd) {
      await this.#accept({ bucket, expected, actual: found.digest });
    }
    await this.#memory.set(bucket, { recipientsDigest: found.digest, signedAtMs: Date.now() });
    return found;
  }

  #pinnedOf(bucket: string): string | undefined {
    const { pinnedRecipients = {} } = this.#settings;
    return Object.hasOwn(pinnedRecipients, bucket) ? pinnedRecipients[bucket] : undefined;
  }

  /** Throws Untrusted unless the caller accepts the change. */
  async #accept(change: RecipientsChange): Promise<void> {
    const { bucket, actual } = change;
    if (this.#accepted.get(bucket) === actual) return;
    // Over HTTP, a single node could have invented the recipients.
    const { verifier } = this.#connection.transport;
    const isAccepted = verifier && (await this.#settings.acceptRecipients?.(change));
    if (!isAccepted) throw changed(change);
    this.#accepted.set(bucket, actual);
  }

  async #signed(verified: Transport, bucket: string): Promise<Found> {
    const { retry: rule } = administrationRows.getBucketMode;
    const ask = async () => verified.administration?.getBucketMode(bucket, undefined) ?? {};
    return foundOf(await byRule(this.#connection, { rule, signal: undefined }, ask));
  }

  /** Returns undefined if the query fails: a key that may only write has no right to it. */
  #query(verified: Transport, bucket: string): Promise<Found | undefined> {
    const connection = { ...this.#connection, transport: verified };
    return perform(connection, 'getEndToEnd', bucket, undefined).then(foundOf, () => undefined);
  }

  async #unsigned(bucket: string): Promise<Found> {
    if (this.#pinnedOf(bucket) === undefined) throw unverifiable(bucket);
    return foundOf(await this.queried(bucket));
  }
}

/** The mode assumed for files of age's type when the caller may not ask for the bucket's mode. */
const unknownMode: EndToEndRecord = {
  usesVetKeys: false,
  sealsNames: false,
  recipients: [],
  serial: '0',
  epochs: [],
};

interface Caller {
  readonly bucket: string;
  readonly signal: Signal;
}

/** Callers share one request, so an abort ends only the wait of its own caller. */
async function cached<T extends object>(
  map: Map<string, Cached<T>>,
  { bucket, signal }: Caller,
  ask: () => Promise<T>,
): Promise<T> {
  const wait = () => shared(map, bucket, ask);
  const found = await (signal === undefined ? wait() : unlessAborted(signal, wait));
  if (found === undefined) throw abortedError(signal?.reason);
  return found;
}

function shared<T>(map: Map<string, Cached<T>>, bucket: string, ask: () => Promise<T>): Promise<T> {
  const known = map.get(bucket);
  if (known !== undefined && Date.now() < known.untilMs) return known.found;
  const asked = { found: ask(), untilMs: Date.now() + modeKnownMs };
  map.set(bucket, asked);
  asked.found.catch(() => {
    // The mode may have been forgotten, and requested again, since.
    if (map.get(bucket) === asked) map.delete(bucket);
  });
  return asked.found;
}

async function foundOf(reported: BucketMode): Promise<Found> {
  const mode = modeOf(reported);
  return { mode, digest: await recipientsDigest(mode) };
}

function isLasting(error: unknown): boolean {
  return (
    isStorageError(error) && !error.isRetryable && !['Untrusted', 'Aborted'].includes(error.code)
  );
}

function modeOf({ endToEnd }: BucketMode): EndToEndRecord | undefined {
  if (!endToEnd || 'epochs' in endToEnd) return endToEnd ?? undefined;
  const { epoch, ...mode } = endToEnd;
  return { ...mode, serial: '0', epochs: epoch ? [epoch] : [] };
}

function processMemory(): BucketMemory {
  const known = new Map<string, Awaited<ReturnType<BucketMemory['get']>>>();
  return {
    get: async (bucket) => known.get(bucket),
    async set(bucket, mode) {
      known.set(bucket, mode);
    },
  };
}

function changed({ bucket, expected, actual }: RecipientsChange): StorageError {
  const words =
    actual === notEndToEnd
      ? `Bucket ${bucket} is not end-to-end encrypted; recipients with the digest ${expected} are expected.`
      : `The recipients of bucket ${bucket} have the digest ${actual}; ${expected} is expected.`;
  return new StorageError(
    'Untrusted',
    `${words} Nothing was sent. Ask the bucket's owner about the change before you accept it.`,
  );
}

function unverifiable(bucket: string): StorageError {
  return new StorageError(
    'Untrusted',
    `Over HTTP alone, one node can invent the recipients of bucket ${bucket}. Nothing was sent. Pass ` +
      'the digest of its recipients (endToEnd({ pinnedRecipients })), or use createStorage().',
  );
}
