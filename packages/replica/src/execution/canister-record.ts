// A canister's record in the store, as CBOR behind one version byte:
//
//   0      1
//   +------+------------------------------------------------------------+
//   | 0x01 | CBOR map: one key for each field of CanisterRecord          |
//   +------+------------------------------------------------------------+

import { Principal } from '@dfinity/principal';
import { decode, encode } from 'cborg';
import type { CanisterView } from '../core.ts';
import type { CanisterRecord } from './canister.ts';
import { defaultFreezingThresholdSeconds, defaultWasmMemoryLimitBytes } from './limits.ts';

const version = 1;

interface Fields {
  readonly controllers: readonly Uint8Array[];
  readonly status: CanisterView['status'];
  readonly freezingThreshold: bigint | number;
  readonly wasmMemoryLimit: bigint | number;
  readonly moduleHash: Uint8Array | null;
  readonly certifiedData: Uint8Array;
  readonly version: bigint | number;
  /** Decimal: cycles have 128 bits, CBOR's integers 64. */
  readonly cycles: string;
  readonly globalTimer: bigint | number;
}

export function newRecord(controllers: readonly Principal[], cycles: bigint): CanisterRecord {
  return {
    controllers,
    status: 'running',
    freezingThreshold: defaultFreezingThresholdSeconds,
    wasmMemoryLimit: defaultWasmMemoryLimitBytes,
    moduleHash: undefined,
    certifiedData: new Uint8Array(),
    version: 0n,
    cycles,
    globalTimer: 0n,
  };
}

export function encodeRecord(record: CanisterRecord): Uint8Array {
  const fields: Fields = {
    ...record,
    controllers: record.controllers.map((one) => one.toUint8Array()),
    moduleHash: record.moduleHash ?? null,
    cycles: record.cycles.toString(),
  };
  const body = encode(fields);
  const bytes = new Uint8Array(1 + body.length);
  bytes[0] = version;
  bytes.set(body, 1);
  return bytes;
}

/** Throws on a version of the future. */
export function decodeRecord(bytes: Uint8Array): CanisterRecord {
  if (bytes[0] !== version) {
    throw new Error(`Cannot read a canister's record: its version ${bytes[0]} is not known`);
  }
  const fields = decode(bytes.subarray(1)) as Fields;
  return {
    controllers: fields.controllers.map((one) => Principal.fromUint8Array(one)),
    status: fields.status,
    freezingThreshold: BigInt(fields.freezingThreshold),
    wasmMemoryLimit: BigInt(fields.wasmMemoryLimit),
    moduleHash: fields.moduleHash ?? undefined,
    certifiedData: fields.certifiedData,
    version: BigInt(fields.version),
    cycles: BigInt(fields.cycles),
    globalTimer: BigInt(fields.globalTimer),
  };
}
