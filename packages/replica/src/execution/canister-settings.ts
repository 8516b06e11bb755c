// A canister's settings: the defaults, and their form in its record. Every message stores the
// record, but settings rarely change, so their encoding is cached.
//
//   CBOR array, in the order of Fields; cycles decimal, principals as bytes, a visibility as text
//   or as the list of its viewers, environment variables as pairs

import { Principal } from '@dfinity/principal';
import { decode, encode } from 'cborg';
import type { CanisterSettings, Visibility } from '../settings.ts';
import { defaultFreezingThresholdSeconds, defaultWasmMemoryLimitBytes } from './limits.ts';

type StoredVisibility = 'controllers' | 'public' | readonly Uint8Array[];

type Fields = readonly [
  controllers: readonly Uint8Array[],
  computeAllocation: bigint | number,
  memoryAllocation: bigint | number,
  freezingThreshold: bigint | number,
  reservedCyclesLimit: string,
  minimumIncomingCallCycles: string,
  wasmMemoryLimit: bigint | number,
  wasmMemoryThreshold: bigint | number,
  logMemoryLimit: bigint | number,
  logVisibility: StoredVisibility,
  snapshotVisibility: StoredVisibility,
  statusVisibility: StoredVisibility,
  environmentVariables: readonly (readonly [name: string, value: string])[],
];

/** IC spec, "IC method create_canister", "Default value"; `rs/types/types/src/canister_log.rs`,
 * DEFAULT_AGGREGATE_LOG_MEMORY_LIMIT. */
const defaults: Omit<CanisterSettings, 'controllers'> = {
  computeAllocation: 0n,
  memoryAllocation: 0n,
  freezingThreshold: defaultFreezingThresholdSeconds,
  reservedCyclesLimit: 5_000_000_000_000n,
  minimumIncomingCallCycles: 0n,
  wasmMemoryLimit: defaultWasmMemoryLimitBytes,
  wasmMemoryThreshold: 0n,
  logMemoryLimit: 4_096n,
  logVisibility: 'controllers',
  snapshotVisibility: 'controllers',
  statusVisibility: 'controllers',
  environmentVariables: new Map(),
};

export function newSettings(
  controllers: readonly Principal[],
  others: Partial<CanisterSettings> = {},
): CanisterSettings {
  return { ...defaults, ...others, controllers };
}

const encoded = new WeakMap<CanisterSettings, Uint8Array>();

export function encodeSettings(settings: CanisterSettings): Uint8Array {
  const known = encoded.get(settings);
  if (known !== undefined) return known;
  const fields: Fields = [
    settings.controllers.map((one) => one.toUint8Array()),
    settings.computeAllocation,
    settings.memoryAllocation,
    settings.freezingThreshold,
    settings.reservedCyclesLimit.toString(),
    settings.minimumIncomingCallCycles.toString(),
    settings.wasmMemoryLimit,
    settings.wasmMemoryThreshold,
    settings.logMemoryLimit,
    storedVisibility(settings.logVisibility),
    storedVisibility(settings.snapshotVisibility),
    storedVisibility(settings.statusVisibility),
    [...settings.environmentVariables],
  ];
  const bytes = encode(fields);
  encoded.set(settings, bytes);
  return bytes;
}

export function decodeSettings(bytes: Uint8Array): CanisterSettings {
  const [controllers, computeAllocation, memoryAllocation, freezingThreshold, ...rest] = decode(
    bytes,
  ) as Fields;
  const [reserved, incoming, wasmLimit, wasmThreshold, logLimit, ...lists] = rest;
  const [logVisibility, snapshotVisibility, statusVisibility, variables] = lists;
  return {
    controllers: controllers.map((one) => Principal.fromUint8Array(one)),
    computeAllocation: BigInt(computeAllocation),
    memoryAllocation: BigInt(memoryAllocation),
    freezingThreshold: BigInt(freezingThreshold),
    reservedCyclesLimit: BigInt(reserved),
    minimumIncomingCallCycles: BigInt(incoming),
    wasmMemoryLimit: BigInt(wasmLimit),
    wasmMemoryThreshold: BigInt(wasmThreshold),
    logMemoryLimit: BigInt(logLimit),
    logVisibility: readVisibility(logVisibility),
    snapshotVisibility: readVisibility(snapshotVisibility),
    statusVisibility: readVisibility(statusVisibility),
    environmentVariables: new Map(variables),
  };
}

function storedVisibility(visibility: Visibility): StoredVisibility {
  if (typeof visibility === 'string') return visibility;
  return visibility.viewers.map((one) => one.toUint8Array());
}

function readVisibility(stored: StoredVisibility): Visibility {
  if (stored === 'controllers' || stored === 'public') return stored;
  return { viewers: stored.map((one) => Principal.fromUint8Array(one)) };
}
