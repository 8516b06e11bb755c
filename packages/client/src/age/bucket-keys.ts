// Whom files of a bucket are encrypted to, and what opens them: the bucket's identities, kept once
// they are derived, and the user's own.

import { managementOf } from '../administration/buckets-and-keys.ts';
import type { Connection } from '../connection/connection.ts';
import type { PathNames } from '../sealed-names/bucket-names.ts';
import { isStorageError, StorageError } from '../storage-error.ts';
import type { EndToEndRecord, IdentityStore } from '../types/end-to-end.ts';
import { type BucketIdentity, deriveVetKey, identityOf, namesKeyOf } from './bucket-identity.ts';
import { type Opening, openHeader, type Sealing } from './header.ts';
import { sealedNames } from './sealed-names.ts';

/** The canister whose members sign: absent where a key or nobody asks. */
export interface Issuer {
  readonly canisterId: string;
  /** Bytes of its principal. */
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

type Epoch = EndToEndRecord['epochs'][number];

export class BucketKeys {
  readonly #connection: Connection;
  readonly #settings: KeySettings;
  /** Being derived, by name: the network is asked once. */
  readonly #deriving = new Map<string, Promise<Uint8Array>>();

  constructor(connection: Connection, settings: KeySettings) {
    this.#connection = connection;
    this.#settings = settings;
  }

  /** Whom a new file is for. NoRecipient, in words, when nobody could open it. */
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
      `Bucket ${bucket.id} is end-to-end and has no recipient: its owner adds one, such as age1….`,
    );
  }

  /** The key of a file with this header; NoIdentity, in words, when nothing here opens it. */
  async fileKeyOf(bucket: EndToEndBucket | undefined, header: Uint8Array): Promise<Uint8Array> {
    const { identities, passphrases, issuer } = this.#settings;
    const own = { identities, passphrases };
    if (bucket === undefined || !bucket.mode.usesVetKeys || issuer === undefined) {
      return openHeader(header, own);
    }
    const tries = [() => openHeader(header, own)];
    for (const epoch of bucket.mode.epochs.toReversed()) {
      tries.push(async () => {
        const { identity } = await this.identity(bucket, epoch);
        return openHeader(header, { identities: [identity], passphrases: [] });
      });
    }
    let refusal: unknown;
    for (const attempt of tries) {
      try {
        return await attempt();
      } catch (error) {
        if (!isStorageError(error, 'NoIdentity')) throw error;
        refusal = error;
      }
    }
    throw refusal;
  }

  /** Verified, and compared with the recipient of the record. */
  async identity(bucket: EndToEndBucket, epoch: Epoch): Promise<BucketIdentity> {
    const derived = await identityOf(await this.vetKey(bucket, epoch.epoch));
    if (!epoch.recipient || epoch.recipient === derived.recipient) return derived;
    throw new StorageError(
      'Untrusted',
      `The recipient of bucket ${bucket.id} is not that of the identity which the network ` +
        'derives: somebody has put another in its place. Nothing is encrypted to it.',
    );
  }

  /** Of a bucket that seals them: by the first epoch, so that a rotation changes none. */
  async namesOf(bucket: EndToEndBucket): Promise<PathNames> {
    return sealedNames(await namesKeyOf(await this.vetKey(bucket, 1)));
  }

  /** Of the store, else of the network, which it costs 26 G cycles. */
  async vetKey(bucket: EndToEndBucket, epoch: number): Promise<Uint8Array> {
    const { store, issuer } = this.#settings;
    if (issuer === undefined) {
      const words = `A member's own signature gets the identity of bucket ${bucket.id}, no API key.`;
      throw new StorageError('NoIdentity', words);
    }
    const { serial } = bucket.mode;
    const name = `${issuer.canisterId}-${serial}-${epoch}`;
    const kept = await store.get(name);
    if (kept !== undefined) return kept;
    const derive = async () => {
      const canister = await issuer.canisterBytes();
      const { isOnNetwork } = issuer;
      const secret = await deriveVetKey({
        ...{ serial, epoch, canister, isOnNetwork },
        ask: (transportKey) =>
          managementOf(this.#connection).getBucketIdentity(bucket.id, epoch, transportKey),
      });
      await store.set(name, secret);
      return secret;
    };
    const deriving = this.#deriving.get(name) ?? derive();
    this.#deriving.set(name, deriving);
    return deriving.finally(() => this.#deriving.delete(name));
  }

  /**
   * That of the record, compared with the identity if it is at hand: a derivation for the sake of a
   * comparison would be refused to who writes by one program after another. An owner's client
   * publishes one that is missing.
   */
  async #recipientOf(bucket: EndToEndBucket, epoch: Epoch): Promise<string> {
    const { store, issuer } = this.#settings;
    const name = `${issuer?.canisterId}-${bucket.mode.serial}-${epoch.epoch}`;
    if (epoch.recipient) {
      const isAtHand = issuer !== undefined && (await store.get(name)) !== undefined;
      return isAtHand ? (await this.identity(bucket, epoch)).recipient : epoch.recipient;
    }
    if (issuer === undefined) throw unpublished(bucket);
    const { recipient } = await this.identity(bucket, epoch);
    try {
      await managementOf(this.#connection).setBucketRecipient(bucket.id, epoch.epoch, recipient);
    } catch (error) {
      throw isStorageError(error, 'AccessDenied') ? unpublished(bucket) : error;
    }
    return recipient;
  }
}

function unpublished({ id }: EndToEndBucket): StorageError {
  return new StorageError(
    'NoRecipient',
    `Bucket ${id} has no recipient yet: an owner's client publishes it with the first upload.`,
  );
}
