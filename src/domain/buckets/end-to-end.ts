// The end-to-end mode of a bucket: how its members get an identity, and the recipients of its
// files. It contains no secret. The network derives an epoch's identity from the serial and the
// epoch's number, with the key whose name the epoch stores.

import { encodeUtf8 } from '../../lib/text.ts';
import { RecordReader, RecordWriter } from '../../storage/codec.ts';
import { vetKeyOrigin } from '../keys/root-keys.ts';
import { parseRecipients } from '../shared/age-format.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';

export interface Epoch {
  /** From 1. */
  readonly epoch: number;
  /** The recipient of the identity; absent until a client of an owner publishes it. */
  readonly recipient: string | undefined;
  readonly openedAtNs: bigint;
  /** Name of the network's key that derives the identity. */
  readonly keyName: string;
  /** The canister that asks the network; '' if this one does. */
  readonly proxy: string;
}

export interface EndToEnd {
  /** Members get an identity that the network derives (vetKeys). */
  readonly usesVetKeys: boolean;
  /** Clients seal the segments of paths. */
  readonly sealsNames: boolean;
  /** age recipients that the owners listed. */
  readonly recipients: readonly string[];
  /** 64 random bits: a repeated serial, also after a reinstallation, would repeat an identity. */
  readonly serial: bigint;
  /** In order, the newest last; empty without vetKeys. */
  readonly epochs: readonly Epoch[];
}

// 0: version 2 | flags u8: 1 vetKeys, 2 sealed names | serial u64 | recipients u8 | epochs u32
//    | texts: recipients …, for each epoch: recipient or '', its begin in decimal ns, key name,
//    proxy
// In the meta map. Epochs are texts, because a bucket can have a thousand and texts are split
// natively. Version 1 had no proxies.
const version = 2;
const directVersion = 1;
const flagBits = { vetKeys: 1, sealedNames: 2 } as const;
const textsPerEpoch = 4;
const textsPerDirectEpoch = 3;
const serialBytes = 8;

function metaKey(bucketId: string): Uint8Array {
  return encodeUtf8(`endToEnd/${bucketId}`);
}

export function findEndToEnd(stores: Stores, bucketId: string): EndToEnd | undefined {
  const stored = stores.meta.get(metaKey(bucketId));
  if (stored === undefined) return undefined;
  const reader = new RecordReader(stored, version, directVersion);
  const flags = reader.u8();
  const serial = reader.u64();
  const recipientCount = reader.u8();
  const epochCount = reader.u32();
  const texts = reader.texts();
  const recipients = texts.slice(0, recipientCount);
  const isDirect = reader.version === directVersion;
  const perEpoch = isDirect ? textsPerDirectEpoch : textsPerEpoch;
  const epochs = Array.from({ length: epochCount }, (_, index): Epoch => {
    const at = recipientCount + index * perEpoch;
    return {
      epoch: index + 1,
      recipient: texts[at] || undefined,
      openedAtNs: BigInt(texts[at + 1] ?? 0),
      keyName: texts[at + 2] ?? '',
      proxy: isDirect ? '' : (texts[at + 3] ?? ''),
    };
  });
  return {
    usesVetKeys: (flags & flagBits.vetKeys) !== 0,
    sealsNames: (flags & flagBits.sealedNames) !== 0,
    recipients,
    serial,
    epochs,
  };
}

export function saveEndToEnd(stores: Stores, bucketId: string, mode: PlannedMode): void {
  const { usesVetKeys, sealsNames, recipients, epochs, serial = drawSerial(stores) } = mode;
  const flags = (usesVetKeys ? flagBits.vetKeys : 0) | (sealsNames ? flagBits.sealedNames : 0);
  const record = new RecordWriter(version)
    .u8(flags)
    .u64(serial)
    .u8(recipients.length)
    .u32(epochs.length)
    .finish([...recipients, ...epochs.flatMap(textsOf)]);
  stores.meta.set(metaKey(bucketId), record);
}

function drawSerial(stores: Stores): bigint {
  const bytes = stores.secrets.random(serialBytes);
  return new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0);
}

export function forgetEndToEnd(stores: Stores, bucketId: string): void {
  stores.meta.delete(metaKey(bucketId));
}

function textsOf({ recipient = '', openedAtNs, keyName, proxy }: Epoch): string[] {
  return [recipient, String(openedAtNs), keyName, proxy];
}

/** The options as owners send them. */
export interface EndToEndOptions {
  /** Default: true. */
  readonly usesVetKeys?: boolean | undefined;
  readonly sealsNames?: boolean | undefined;
  readonly recipients?: readonly string[] | undefined;
}

/** The mode to store; without a serial, it gets a new one. */
export type PlannedMode = Omit<EndToEnd, 'serial'> & { readonly serial?: bigint };

/**
 * Returns the mode of a bucket without files. Refuses vetKeys if the canister has none, and sealed
 * names without vetKeys, because the key of names derives from the first epoch's identity.
 */
export function planMode(stores: Stores, options: EndToEndOptions, nowNs: bigint): PlannedMode {
  const { usesVetKeys = true, sealsNames = false } = options;
  if (sealsNames && !usesVetKeys) {
    throw new Refusal(
      'InvalidArgument',
      'Sealed names need vetKeys, which give members the key: set usesVetKeys to true, or sealsNames to ' +
        'false.',
    );
  }
  const recipients = parseRecipients(options.recipients ?? []);
  const epochs = usesVetKeys ? [newEpoch(stores, 1, nowNs)] : [];
  return { usesVetKeys, sealsNames, recipients, epochs };
}

/** Returns a new epoch; refuses while the root key is a stored one. */
export function newEpoch(stores: Stores, epoch: number, nowNs: bigint): Epoch {
  const origin = vetKeyOrigin(stores);
  if (origin === undefined) {
    throw new Refusal(
      'InvalidArgument',
      'The root key of this canister is stored, so members cannot get an identity by vetKeys: list ' +
        'recipients, and set usesVetKeys to false.',
    );
  }
  const { keyName, proxy } = origin;
  return { epoch, recipient: undefined, openedAtNs: nowNs, keyName, proxy };
}
