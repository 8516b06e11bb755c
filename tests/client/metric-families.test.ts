// The metrics from the figures of a canister: what a caller does not see, or
// the network does not report, is absent.

import { describe, expect, test } from 'vitest';
import type { ServiceStatus } from '../../packages/client/src/types/service.ts';
import { type CanisterFigures, familiesOf } from '../../packages/wire/src/metrics/families.ts';

const gib = 2 ** 30;
const status: ServiceStatus = {
  version: '0.3.0',
  buckets: 1,
  files: 2,
  bytesStored: 3,
  stableBytes: gib,
  heapBytes: 0,
  chargesCycles: true,
  encryption: { rootKey: 'vetkd', keyName: 'key_1', isKeyPresent: true, isRotating: false },
  certified: 'response-verification-v2',
};
const figures: CanisterFigures = {
  canisterId: 'rrkah-fqaaa-aaaaa-aaaaq-cai',
  role: 'canister',
  status,
  code: undefined,
  state: undefined,
  volume: undefined,
  buckets: [],
  hasMoreBuckets: false,
};
const volume = {
  ...{ canisterId: figures.canisterId, state: 'open', stableBytes: gib, reservedCycles: 0 },
  limitBytes: 400 * gib,
};
const state = {
  ...({ status: 'running', cycles: 3e12, cyclesPerDay: 1e11, memoryBytes: gib } as const),
  ...{ reservedCycles: 1e12, reservedCyclesLimit: 5e12, freezingSeconds: 0, environment: {} },
};

/** Returns the values of the metrics with one sample. */
function valuesOf(change: Partial<CanisterFigures>): Record<string, number | undefined> {
  const families = familiesOf([{ ...figures, ...change }]);
  return Object.fromEntries(families.map(({ name, samples }) => [name, samples[0]?.value]));
}

describe('familiesOf()', () => {
  test('reports no cycles to those who do not see them', () => {
    const values = valuesOf({});
    expect(values).toMatchObject({ efs_up: 1, efs_files: 2, efs_root_key_present: 1 });
    expect(values.efs_stable_memory_limit_bytes).toBe(500 * gib);
    const cycles = ['efs_balance_cycles', 'efs_balance_seconds', 'efs_reserved_cycles'];
    for (const name of cycles) expect(values, name).not.toHaveProperty(name);
  });

  test("reports an owner's cycles and the canister's own reading of the reservation", () => {
    const storageReservation = {
      reservedCycles: 1,
      limitCycles: 2,
      readAt: '2026-01-01T00:00:00Z',
    };
    const values = valuesOf({ status: { ...status, cycles: 1e12, storageReservation } });
    expect(values).toMatchObject({
      ...{ efs_balance_cycles: 1e12, efs_reserved_cycles: 1, efs_reserved_limit_cycles: 2 },
      efs_balance_seconds: 91 * 86_400,
    });
  });

  test("prefers the network's figures for a controller", () => {
    expect(valuesOf({ state, status: { ...status, cycles: 1 } })).toMatchObject({
      ...{ efs_balance_cycles: 3e12, efs_balance_seconds: 30 * 86_400 },
      ...{ efs_reserved_cycles: 1e12, efs_reserved_limit_cycles: 5e12 },
    });
  });

  test('names no time of cycles and no limit of room on a cloud engine, but a limit that was set', () => {
    const engine = { status: { ...status, cycles: 0, chargesCycles: false } };
    const free = { ...state, cycles: 0, cyclesPerDay: 0 };
    for (const change of [engine, { ...engine, role: 'volume', volume } as const]) {
      const values = valuesOf({ ...change, state: free });
      expect(values.efs_charges_cycles).toBe(0);
      expect(values).not.toHaveProperty('efs_balance_seconds');
      expect(values).not.toHaveProperty('efs_stable_memory_limit_bytes');
    }
    const set = { ...volume, limitBytes: 80 * gib };
    const limited = valuesOf({ ...engine, role: 'volume', volume: set });
    expect(limited.efs_stable_memory_limit_bytes).toBe(80 * gib);
  });

  test('reports a canister that does not answer as down, and nothing else of it', () => {
    const { efs_up, efs_buckets_incomplete, ...others } = valuesOf({ status: undefined });
    expect([efs_up, efs_buckets_incomplete, others]).toEqual([0, 0, {}]);
  });

  test('reports neither keys nor budgets nor a limit of a front', () => {
    const refusals = { burst: 1, perMinute: 1, left: 1 };
    const values = valuesOf({ role: 'front', status: { ...status, refusals } });
    for (const name of ['efs_root_key_present', 'efs_budget_left', 'efs_stable_memory_limit_bytes'])
      expect(values, name).not.toHaveProperty(name);
    expect(valuesOf({ status: { ...status, refusals } }).efs_budget_left).toBe(1);
  });
});
