// Converts canister settings from Candid, with the network's ranges and messages (`dfinity/ic`
// `rs/execution_environment/src/canister_settings.rs`). The engine checks the subnet's capacity.

import type { Reject } from '../core.ts';
import { environmentTextBytesMax } from '../execution/limits.ts';
import type { CanisterSettings, Visibility } from '../settings.ts';
import type { Opt, SettingsArgument, VisibilityArgument } from './candid-types.ts';
import { contractViolation, isReject, malformedSettings } from './rejects.ts';

/** IC spec, "IC method create_canister"; `rs/types/management_canister_types/src/lib.rs`,
 * MAX_ALLOWED_CONTROLLERS_COUNT. */
const controllersMax = 10;
/** The same: MAX_ALLOWED_LOG_VIEWERS_COUNT. */
const viewersMax = 10;
/** `rs/config/src/execution_environment.rs`, MAX_ENVIRONMENT_VARIABLES. */
const variablesMax = 20;
/**
 * `rs/types/types/src/canister_log.rs`, MAX_AGGREGATE_LOG_MEMORY_LIMIT and
 * MIN_AGGREGATE_LOG_MEMORY_LIMIT: a limit lies in this range, or is 0, which means no log.
 */
const logBytesMax = 2n ** 21n;
const logBytesMin = 4_096n;

interface NumberRule {
  readonly name:
    | 'compute_allocation'
    | 'memory_allocation'
    | 'freezing_threshold'
    | 'reserved_cycles_limit'
    | 'minimum_incoming_canister_call_cycles'
    | 'wasm_memory_limit'
    | 'wasm_memory_threshold';
  readonly field: keyof CanisterSettings;
  /** The network's name of the setting. */
  readonly label: string;
  readonly most: bigint;
}

const nat64Max = 2n ** 64n - 1n;
const nat128Max = 2n ** 128n - 1n;
/** IC spec, "IC method create_canister": from 0 to `most`, inclusive. */
const numberRules: readonly NumberRule[] = [
  {
    name: 'compute_allocation',
    field: 'computeAllocation',
    label: 'ComputeAllocation',
    most: 100n,
  },
  {
    name: 'memory_allocation',
    field: 'memoryAllocation',
    label: 'MemoryAllocation',
    most: nat64Max,
  },
  {
    name: 'freezing_threshold',
    field: 'freezingThreshold',
    label: 'Freezing threshold',
    most: nat64Max,
  },
  {
    name: 'reserved_cycles_limit',
    field: 'reservedCyclesLimit',
    label: 'Reserved cycles limit',
    most: nat128Max,
  },
  {
    name: 'minimum_incoming_canister_call_cycles',
    field: 'minimumIncomingCallCycles',
    label: 'Minimum incoming canister call cycles',
    most: nat128Max,
  },
  {
    name: 'wasm_memory_limit',
    field: 'wasmMemoryLimit',
    label: 'Wasm memory limit',
    most: 2n ** 48n,
  },
  {
    name: 'wasm_memory_threshold',
    field: 'wasmMemoryThreshold',
    label: 'Wasm memory threshold',
    most: 2n ** 48n,
  },
];

/** Returns the settings that the caller changes, or the reject of a value out of range. */
export function readSettings(argument: Opt<SettingsArgument>): Partial<CanisterSettings> | Reject {
  const [settings] = argument;
  if (settings === undefined) return {};
  const numbers = readNumbers(settings);
  if (isReject(numbers)) return numbers;
  const refused = checkLists(settings) ?? checkLogLimit(settings);
  if (refused !== undefined) return refused;
  const [controllers] = settings.controllers;
  const [logMemoryLimit] = settings.log_memory_limit;
  const [variables] = settings.environment_variables;
  return {
    ...numbers,
    ...(controllers && { controllers }),
    ...(logMemoryLimit !== undefined && { logMemoryLimit }),
    ...readVisibility('logVisibility', settings.log_visibility),
    ...readVisibility('snapshotVisibility', settings.snapshot_visibility),
    ...readVisibility('statusVisibility', settings.status_visibility),
    ...(variables && { environmentVariables: inOrder(variables) }),
  };
}

function readNumbers(settings: SettingsArgument): Partial<CanisterSettings> | Reject {
  const read: Record<string, bigint> = {};
  for (const { name, field, label, most } of numberRules) {
    const [value] = settings[name];
    if (value === undefined) continue;
    if (value > most) {
      return contractViolation(
        `${label} expected to be in the range of [0..${most}], got ${value}`,
      );
    }
    read[field] = value;
  }
  return read;
}

function readVisibility(
  field: 'logVisibility' | 'snapshotVisibility' | 'statusVisibility',
  [argument]: Opt<VisibilityArgument>,
): { readonly [field: string]: Visibility } {
  if (argument === undefined) return {};
  if ('allowed_viewers' in argument) return { [field]: { viewers: argument.allowed_viewers } };
  return { [field]: 'public' in argument ? 'public' : 'controllers' };
}

function checkLists(settings: SettingsArgument): Reject | undefined {
  const controllers = settings.controllers[0]?.length ?? 0;
  if (controllers > controllersMax) {
    return malformedSettings(`${controllers} controllers exceed the maximum of ${controllersMax}`);
  }
  for (const name of ['log_visibility', 'snapshot_visibility', 'status_visibility'] as const) {
    const [visibility] = settings[name];
    if (visibility === undefined || !('allowed_viewers' in visibility)) continue;
    const viewers = visibility.allowed_viewers.length;
    if (viewers > viewersMax) {
      return malformedSettings(
        `${viewers} allowed viewers of ${name} exceed the maximum of ${viewersMax}`,
      );
    }
  }
  return checkVariables(settings.environment_variables[0] ?? []);
}

function checkVariables(
  variables: readonly { readonly name: string; readonly value: string }[],
): Reject | undefined {
  if (variables.length > variablesMax) {
    const count = `${variables.length} (max: ${variablesMax})`;
    return malformedSettings(`Too many environment variables: ${count}`);
  }
  for (const { name, value } of variables) {
    for (const [what, text] of [
      ['name', name],
      ['value', value],
    ] as const) {
      if (Buffer.byteLength(text) <= environmentTextBytesMax) continue;
      return malformedSettings(
        `Environment variable ${what} "${text}" exceeds the maximum allowed length of ` +
          `${environmentTextBytesMax}.`,
      );
    }
  }
  if (new Set(variables.map(({ name }) => name)).size < variables.length) {
    return malformedSettings('Duplicate environment variables are not allowed');
  }
  return undefined;
}

function checkLogLimit({ log_memory_limit: [limit] }: SettingsArgument): Reject | undefined {
  if (limit === undefined || limit === 0n) return undefined;
  if (limit >= logBytesMin && limit <= logBytesMax) return undefined;
  return contractViolation(
    `Log memory limit expected to be 0 or in the range of [${logBytesMin}..${logBytesMax}], ` +
      `got ${limit}`,
  );
}

/** Sorts by the bytes of the names. IC spec, "System API", get_sorted_env_keys. */
function inOrder(
  variables: readonly { readonly name: string; readonly value: string }[],
): ReadonlyMap<string, string> {
  const sorted = [...variables].sort((a, b) => {
    return Buffer.compare(Buffer.from(a.name), Buffer.from(b.name));
  });
  return new Map(sorted.map(({ name, value }) => [name, value]));
}
