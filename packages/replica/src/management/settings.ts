// Canister settings between Candid and the engine. Settings that bear on a subnet's scarce
// resources (allocations, reservations, log visibility) are checked and, having no meaning on one
// machine, not kept.

import type { CanisterSettings, Reject } from '../core.ts';
import type { Opt, SettingsArgument } from './candid-types.ts';
import { isReject, refused } from './rejects.ts';

const controllersMax = 10;
const nat64Max = 2n ** 64n - 1n;
/** IC spec, "Canister settings": the largest value of each number. */
const largest = {
  compute_allocation: 100n,
  memory_allocation: 2n ** 48n,
  freezing_threshold: nat64Max,
  reserved_cycles_limit: 2n ** 128n - 1n,
  wasm_memory_limit: 2n ** 48n,
  wasm_memory_threshold: nat64Max,
} as const;

/** What the caller asks to change, or the reject of a value out of range. */
export function readSettings(argument: Opt<SettingsArgument>): CanisterSettings | Reject {
  const [settings] = argument;
  if (settings === undefined) return {};
  const error = checkRanges(settings);
  if (error !== undefined) return error;
  const [controllers] = settings.controllers;
  const [freezingThreshold] = settings.freezing_threshold;
  const [wasmMemoryLimit] = settings.wasm_memory_limit;
  return {
    ...(controllers === undefined ? {} : { controllers }),
    ...(freezingThreshold === undefined ? {} : { freezingThreshold }),
    ...(wasmMemoryLimit === undefined ? {} : { wasmMemoryLimit }),
  };
}

/** Whether anything but the controllers is set. */
export function hasMoreThanControllers(settings: CanisterSettings | Reject): boolean {
  if (isReject(settings)) return false;
  return settings.freezingThreshold !== undefined || settings.wasmMemoryLimit !== undefined;
}

function checkRanges(settings: SettingsArgument): Reject | undefined {
  const [controllers] = settings.controllers;
  if (controllers !== undefined && controllers.length > controllersMax) {
    return refused(
      `Invalid canister settings: ${controllers.length} controllers ` +
        `exceed the maximum of ${controllersMax}`,
    );
  }
  for (const [name, maximum] of Object.entries(largest)) {
    const [value] = settings[name as keyof typeof largest];
    if (value !== undefined && value > maximum) {
      return refused(
        `Invalid canister settings: ${name} ${value} exceeds the maximum of ${maximum}`,
      );
    }
  }
  return undefined;
}
