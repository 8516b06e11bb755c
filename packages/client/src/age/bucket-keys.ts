// The recipients and identities that seal and open a bucket's files: those of the bucket, which the
// network derives and the client stores, and the user's own.

import { manage } from '../administration/buckets-and-keys.ts';
import type { Connection } from '../connection/connection.ts';
import type { PathNames } from '../sealed-names/bucket-names.ts';
import { isStorageError, StorageError } from '../storage-error.ts';
import type { EndToEndRecord, IdentityStore } from '../types/end-to-end.ts';
import { type BucketIdentity, deriveVetKey, identityOf, namesKeyOf } from './bucket-identity.ts';
import { type HeaderOpener, headerOpener, type Opening, type Sealing } from './header.ts';
import { sealedNames } from './sealed-names.ts';

/** The canister that issues identities; absent for API keys and anonymous callers. */
export interface Issuer {
  readonly canisterId: string;
  /** The bytes of the canister's principal. */
  canisterBytes(): Promise<Uint8Array>;
  readonly isOnNetwork: boolean;
}

export interface KeySettings extends Opening {
  readonly store: IdentityStore;
  readonly issuer: Issuer | undefined;
}

export interface EndToEndBucket {
  readonly id: string;
  readonly mode: EndToEndRecord;
}

type Epoch = Pick<EndToEndRecord['epochs'][number], 'epoch' | 'recipient'>;

export class BucketKeys {
  readonly #connection: Connection;
  readonly #settings: KeySettings;
  /** Derivations in progress, by name, so that concurrent callers share one. */
  readonly #deriving = new Map<string, Promise<Uint8Array>>();
  /** Recipients that this client publishes or has published, because modes are cached. */
  readonly #published = new Map<string, Promise<string>>();

  constructor(connection: Connection, settings: KeySettings) {
    this.#connection = connection;
    this.#settings = settings;
  }

  /**
   * Returns the recipients or passphrase of a new file. Throws NoRecipient if nobody could open it.
   */
  async sealingOf(bucket: EndToEndBucket): Promise<Sealing> {
    const { usesVetKeys, recipients, epochs } = bucket.mode;
    const newest = epochs.at(-1);
    const own = usesVetKeys && newest ? [await this.#recipientOf(bucket, newest)] : [];
    const all = [...own, ...recipients];
    if (all.length > 0) return { recipients: all };
    const [passphrase] = this.#settings.passphrases;
    if (passphrase !== undefined) return { passphrase };
    throw new StorageError(
      'NoRecipient',
      `End-to-end bucket ${bucket.id} has no recipient; its owner must add one, such as age1….`,
    );
  }

  /** Returns the key of a file with this header. Throws NoIdentity if no identity opens it. */
  async fileKeyOf(bucket: EndToEndBucket | undefined, header: Uint8Array): Promise<Uint8Array> {
    return this.opener(bucket)(header);
  }

  /**
   * Like fileKeyOf(), for many headers: reads or derives each identity at most once, also if that
   * fails.
   */
  opener(bucket: EndToEndBucket | undefined): HeaderOpener {
    const { identities, passphrases, issuer } = this.#settings;
    const tries = [once(async () => headerOpener({ identities, passphrases }))];
    if (bucket?.mode.usesVetKeys && issuer !== undefined) {
      for (const epoch of everyEpoch(bucket.mode)) {
        const open = async () => {
          const { identity } = await this.identity(bucket, epoch);
          return headerOpener({ identities: [identity], passphrases: [] });
        };
        tries.push(once(open));
      }
    }
    return async (header) => {
      let refusal: unknown;
      for (const opener of tries) {
        try {
          return await (await opener())(header);
        } catch (error) {
          if (!isStorageError(error, 'NoIdentity')) throw error;
          refusal = error;
        }
      }
      throw refusal;
    };
  }

  /**
   * Returns the verified identity of an epoch; throws Untrusted if the recorded recipient differs.
   */
  async identity(bucket: EndToEndBucket, epoch: Epoch): Promise<BucketIdentity> {
    const derived = await identityOf(await this.vetKey(bucket, epoch.epoch));
    if (!epoch.recipient || epoch.recipient === derived.recipient) return derived;
    throw new StorageError(
      'Untrusted',
      `The recipient of bucket ${bucket.id} was replaced: it does not match the identity that the ` +
        'network derives. Nothing is encrypted to it.',
    );
  }

  /** Returns a sealer of names; its key is epoch 1's, so that a rotation changes no name. */
  async namesOf(bucket: EndToEndBucket): Promise<PathNames> {
    return sealedNames(await namesKeyOf(await this.vetKey(bucket, 1)));
  }

  /**
   * Returns the vetKey of an epoch from the store, else from the network, for 26 billion cycles.
   */
  async vetKey(bucket: EndToEndBucket, epoch: number): Promise<Uint8Array> {
    const { store, issuer } = this.#settings;
    if (issuer === undefined) {
      const words = `The identity of bucket ${bucket.id} requires a member's signature, not an API key.`;
      throw new StorageError('NoIdentity', words);
    }
    const { serial } = bucket.mode;
    const name = nameOf(issuer, bucket, epoch);
    const kept = await store.get(name);
    if (kept !== undefined) return kept;
    const derive = async () => {
      const canister = await issuer.canisterBytes();
      const { isOnNetwork } = issuer;
      const secret = await deriveVetKey({
        ...{ serial, epoch, canister, isOnNetwork },
        ask: (transportPublicKey) =>
          manage(this.#connection, 'getBucketIdentity', {
            ...{ bucket: bucket.id, epoch, transportPublicKey },
          }),
      });
      await store.set(name, secret);
      return secret;
    };
    const deriving = this.#deriving.get(name) ?? derive();
    this.#deriving.set(name, deriving);
    return deriving.finally(() => this.#deriving.delete(name));
  }

  /**
   * Returns the recorded recipient. Compares it with the identity only if the store has the
   * identity, because programs that start again for each write would exceed the limit of
   * derivations. If the recipient is missing, an owner's client publishes it.
   */
  async #recipientOf(bucket: EndToEndBucket, epoch: Epoch): Promise<string> {
    const { store, issuer } = this.#settings;
    const name = nameOf(issuer, bucket, epoch.epoch);
    if (epoch.recipient) {
      const isAtHand = issuer !== undefined && (await store.get(name)) !== undefined;
      return isAtHand ? (await this.identity(bucket, epoch)).recipient : epoch.recipient;
    }
    if (issuer === undefined) throw unpublished(bucket);
    const publishing = this.#published.get(name) ?? this.#publish(bucket, epoch);
    this.#published.set(name, publishing);
    publishing.catch(() => this.#published.delete(name));
    return publishing;
  }

  async #publish(bucket: EndToEndBucket, epoch: Epoch): Promise<string> {
    const { recipient } = await this.identity(bucket, epoch);
    try {
      const published = { bucket: bucket.id, epoch: epoch.epoch, recipient };
      await manage(this.#connection, 'setBucketRecipient', published);
    } catch (error) {
      throw isStorageError(error, 'AccessDenied') ? unpublished(bucket) : error;
    }
    return recipient;
  }
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function nameOf(issuer: Issuer | undefined, { mode }: EndToEndBucket, epoch: number): string {
  return `${issuer?.canisterId}-${mode.serial}-${epoch}`;
}

/** Returns all epochs, newest first; a mode that the network has signed lists only the newest. */
function everyEpoch({ epochs }: EndToEndRecord): Epoch[] {
  const listed = new Map(epochs.map((one) => [one.epoch, one]));
  const count = epochs.at(-1)?.epoch ?? 0;
  return Array.from({ length: count }, (_, index) => {
    const epoch = count - index;
    return listed.get(epoch) ?? { epoch };
  });
}

function unpublished({ id }: EndToEndBucket): StorageError {
  return new StorageError(
    'NoRecipient',
    `Bucket ${id} has no recipient yet; an owner's first upload publishes it.`,
  );
}
