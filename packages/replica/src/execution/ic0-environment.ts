// System API rows: environment variables, sorted by name. IC spec, "Environment Variables".

import type { Execution } from './canister.ts';
import { contractViolation, systemApiError } from './errors.ts';
import type { Row } from './ic0-row.ts';
import { copyCost, copyToHeap, readText, row, usualCost } from './ic0-row.ts';
import { environmentTextBytesMax } from './limits.ts';

const variablesOf = ({ canister }: Execution) => canister.record.settings.environmentVariables;
const bytesOf = (text: string) => new TextEncoder().encode(text);

function nameAt(execution: Execution, index: number): Uint8Array {
  const names = [...variablesOf(execution).keys()];
  const found = names[index];
  if (found !== undefined) return bytesOf(found);
  throw systemApiError(
    `Environment variable index ${index} is out of bounds. The number of environment variables ` +
      `is ${names.length}.`,
    'none',
  );
}

/** Returns the value of the variable whose name is at `start` in the heap, if it exists. */
function find(
  execution: Execution,
  asked: { readonly name: string; readonly start: number; readonly size: number },
): { readonly variable: string; readonly value: string | undefined } {
  if (asked.size > environmentTextBytesMax) {
    throw contractViolation(
      `ic0.${asked.name}: the name is longer than ${environmentTextBytesMax} bytes`,
    );
  }
  const variable = readText(execution, asked);
  return { variable, value: variablesOf(execution).get(variable) };
}

function readValue(execution: Execution, asked: Parameters<typeof find>[1]): Uint8Array {
  const { variable, value } = find(execution, asked);
  if (value !== undefined) return bytesOf(value);
  throw systemApiError(`Environment variable ${variable} not found.`, 'none');
}

export const environmentRows: readonly Row[] = [
  row({
    name: 'env_var_count',
    params: '',
    results: 'p',
    contexts: '*',
    cost: usualCost,
    run: (execution) => variablesOf(execution).size,
  }),
  row({
    name: 'env_var_name_size',
    params: 'p',
    results: 'p',
    contexts: '*',
    cost: usualCost,
    run: (execution, index) => nameAt(execution, index).length,
  }),
  row({
    name: 'env_var_name_copy',
    params: 'pppp',
    results: '',
    contexts: '*',
    cost: copyCost(3),
    run: (execution, index, destination, offset, size) => {
      const name = 'env_var_name_copy';
      const source = nameAt(execution, index);
      return copyToHeap(execution, { name, source, destination, offset, size });
    },
  }),
  row({
    name: 'env_var_name_exists',
    params: 'pp',
    results: 'i',
    contexts: '*',
    cost: copyCost(1),
    run: (execution, start, size) =>
      find(execution, { name: 'env_var_name_exists', start, size }).value === undefined ? 0 : 1,
  }),
  row({
    name: 'env_var_value_size',
    params: 'pp',
    results: 'p',
    contexts: '*',
    cost: copyCost(1),
    run: (execution, start, size) =>
      readValue(execution, { name: 'env_var_value_size', start, size }).length,
  }),
  row({
    name: 'env_var_value_copy',
    params: 'ppppp',
    results: '',
    contexts: '*',
    cost: copyCost(4),
    run: (execution, ...[nameStart, nameSize, destination, offset, size]) => {
      const name = 'env_var_value_copy';
      const source = readValue(execution, { name, start: nameStart, size: nameSize });
      return copyToHeap(execution, { name, source, destination, offset, size });
    },
  }),
];
