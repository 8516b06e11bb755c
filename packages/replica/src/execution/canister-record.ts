// A canister's record in the store, as CBOR after one version byte:
//
//   0      1
//   +------+------------------------------------------------------------+
//   | 0x02 | CBOR map: one key for each field of CanisterRecord          |
//   +------+------------------------------------------------------------+
//
// Version 1 had three settings as separate fields, and no hook.

import { Principal } from '@dfinity/principal';
import { decode, encode } from 'cborg';
import type { CanisterView } from '../core.ts';
import type { CanisterSettings } from '../settings.ts';
import type { LowMemoryHook } from '../snapshot-facts.ts';
import type { CanisterRecord } from './canister.ts';
import { decodeSettings, encodeSettings, newSettings } from './canister-settings.ts';

const version = 2;
const formerVersion = 1;

interface CommonFields {
  readonly status: CanisterView['status'];
  readonly moduleHash: Uint8Array | null;
  readonly certifiedData: Uint8Array;
  readonly version: bigint | number;
  /** Decimal: cycles have 128 bits, CBOR's integers 64. */
  readonly cycles: string;
  readonly globalTimer: bigint | number;
  /** Absent in records that predate charges for storage. */
  readonly reservedCycles?: string;
  readonly chargedAt?: bigint | number;
}

interface Fields extends CommonFields {
  readonly settings: Uint8Array;
  readonly lowMemoryHook: LowMemoryHook;
}

interface FormerFields extends CommonFields {
  readonly controllers: readonly Uint8Array[];
  readonly freezingThreshold: bigint | number;
  readonly wasmMemoryLimit: bigint | number;
}

export function newRecord(
  controllers: readonly Principal[],
  cycles: bigint,
  others?: Partial<CanisterSettings>,
): CanisterRecord {
  return {
    settings: newSettings(controllers, others),
    status: 'running',
    moduleHash: undefined,
    certifiedData: new Uint8Array(),
    version: 0n,
    cycles,
    reservedCycles: 0n,
    chargedAt: 0n,
    globalTimer: 0n,
    lowMemoryHook: 'not satisfied',
  };
}

export function encodeRecord(record: CanisterRecord): Uint8Array {
  const fields: Fields = {
    ...record,
    settings: encodeSettings(record.settings),
    moduleHash: record.moduleHash ?? null,
    cycles: record.cycles.toString(),
    reservedCycles: record.reservedCycles.toString(),
  };
  const body = encode(fields);
  const bytes = new Uint8Array(1 + body.length);
  bytes[0] = version;
  bytes.set(body, 1);
  return bytes;
}

/** Throws for a later version. */
export function decodeRecord(bytes: Uint8Array): CanisterRecord {
  const body = bytes.subarray(1);
  if (bytes[0] === formerVersion) return decodeFormer(decode(body) as FormerFields);
  if (bytes[0] !== version) {
    throw new Error(`Cannot read a canister's record: its version ${bytes[0]} is not known`);
  }
  const fields = decode(body) as Fields;
  const { lowMemoryHook } = fields;
  return { ...readCommon(fields), settings: decodeSettings(fields.settings), lowMemoryHook };
}

function decodeFormer(fields: FormerFields): CanisterRecord {
  const controllers = fields.controllers.map((one) => Principal.fromUint8Array(one));
  const settings = newSettings(controllers, {
    freezingThreshold: BigInt(fields.freezingThreshold),
    wasmMemoryLimit: BigInt(fields.wasmMemoryLimit),
  });
  return { ...readCommon(fields), settings, lowMemoryHook: 'not satisfied' };
}

function readCommon(fields: CommonFields): Omit<CanisterRecord, 'settings' | 'lowMemoryHook'> {
  return {
    status: fields.status,
    moduleHash: fields.moduleHash ?? undefined,
    certifiedData: fields.certifiedData,
    version: BigInt(fields.version),
    cycles: BigInt(fields.cycles),
    globalTimer: BigInt(fields.globalTimer),
    reservedCycles: BigInt(fields.reservedCycles ?? 0),
    chargedAt: BigInt(fields.chargedAt ?? 0),
  };
}
