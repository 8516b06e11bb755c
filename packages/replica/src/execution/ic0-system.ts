// System API rows: canister, subnet, time, timer, certified data, counters. IC spec, "System API".

import type { Execution } from './canister.ts';
import { log } from './canister-log.ts';
import { isReplicated } from './context.ts';
import { calledTrap, contractViolation, invalidPrincipal } from './errors.ts';
import type { Cost, Row } from './ic0-row.ts';
import { blobRows, copyCost, readHeap, row, usualCost } from './ic0-row.ts';

const statusNumbers = { running: 1, stopping: 2, stopped: 3 } as const;
const principalBytesMax = 29;

function certificate(execution: Execution): Uint8Array {
  if (!execution.hasCertificate) {
    throw contractViolation('ic0.data_certificate: there is no certificate in this call', 'mode');
  }
  return execution.world.dataCertificate(execution.canister.id);
}

function performance(execution: Execution, counter: number): bigint {
  const current = execution.limit - execution.sandbox.instructionsLeft;
  if (counter === 0) return current;
  if (counter === 1) return (execution.callContext?.instructions ?? 0n) + current;
  throw contractViolation(`Error getting performance counter type ${counter}`, 'none');
}

function setCertifiedData(execution: Execution, start: number, size: number): undefined {
  const most = execution.world.limits.certifiedDataBytesMax;
  if (size > most) {
    throw contractViolation(
      'ic0_certified_data_set failed because the passed data must be no larger than ' +
        `${most} bytes. Found ${size} bytes.`,
      'certifiedData',
    );
  }
  const name = 'certified_data_set';
  execution.effects.certifiedData = readHeap(execution, { name, start, size });
}

function setTimer(execution: Execution, time: bigint): bigint {
  const former = execution.effects.globalTimer ?? execution.canister.record.globalTimer;
  execution.effects.globalTimer = time;
  return former;
}

function isController(execution: Execution, start: number, size: number): number {
  if (size > principalBytesMax) {
    throw invalidPrincipal();
  }
  const asked = readHeap(execution, { name: 'is_controller', start, size });
  const { controllers } = execution.canister.record.settings;
  return controllers.some((one) => Buffer.compare(one.toUint8Array(), asked) === 0) ? 1 : 0;
}

/** IC spec: never traps, even if the text lies outside the heap. */
function print(execution: Execution, start: number, size: number): undefined {
  const heap = execution.sandbox.heap();
  const line =
    start + size > heap.length
      ? Buffer.from('(debug_print message out of memory bounds)')
      : heap.subarray(start, start + size);
  log(execution, line);
  execution.world.onPrint(execution.canister.idText, line.toString());
}

/** Returns a row without parameters whose result is one number. */
function numberRow(spec: {
  readonly name: string;
  readonly results: 'i' | 'I';
  readonly contexts: string;
  readonly read: (execution: Execution) => number | bigint;
}): Row {
  const { name, results, contexts, read } = spec;
  return row({ name, params: '', results, contexts, cost: usualCost, run: read });
}

/** A printed text costs 2 instructions to read a byte and 50 to store it, up to 4 KiB. */
const logBytesMax = 4_096;
const printCost: Cost = { fixed: 100, perByte: 52, lengths: [1], bytesMax: logBytesMax };
const trapCost: Cost = { fixed: 500, perByte: 53, lengths: [1], bytesMax: logBytesMax };

const identityRows: readonly Row[] = [
  ...blobRows({
    name: 'canister_self',
    contexts: '*',
    read: (execution) => execution.canister.id.toUint8Array(),
  }),
  ...blobRows({
    name: 'subnet_self',
    contexts: '*',
    read: (execution) => execution.world.subnetId(),
  }),
  ...blobRows({
    name: 'root_key',
    contexts: 'I G U RQ Ry Rt C T',
    read: (execution) => execution.world.rootKey(),
  }),
  ...blobRows({ name: 'data_certificate', contexts: 'NRQ CQ', read: certificate }),
  numberRow({
    name: 'canister_status',
    results: 'i',
    contexts: '*',
    read: (execution) => statusNumbers[execution.canister.record.status],
  }),
  numberRow({
    name: 'canister_version',
    results: 'I',
    contexts: '*',
    read: (execution) => execution.canister.record.version,
  }),
  numberRow({
    name: 'data_certificate_present',
    results: 'i',
    contexts: '*',
    read: (execution) => (execution.hasCertificate ? 1 : 0),
  }),
  numberRow({
    name: 'in_replicated_execution',
    results: 'i',
    contexts: '* s',
    read: (execution) => (isReplicated(execution.context) ? 1 : 0),
  }),
  numberRow({ name: 'time', results: 'I', contexts: '*', read: (execution) => execution.time }),
];

export const systemRows: readonly Row[] = [
  ...identityRows,
  row({
    name: 'certified_data_set',
    params: 'pp',
    results: '',
    contexts: 'I G U Ry Rt T',
    cost: copyCost(1),
    run: setCertifiedData,
  }),
  row({
    name: 'global_timer_set',
    params: 'I',
    results: 'I',
    contexts: 'I G U Ry Rt C T',
    cost: usualCost,
    run: setTimer,
  }),
  row({
    name: 'performance_counter',
    params: 'i',
    results: 'I',
    contexts: '* s',
    cost: { fixed: 200 },
    run: performance,
  }),
  row({
    name: 'is_controller',
    params: 'pp',
    results: 'i',
    contexts: '* s',
    cost: { fixed: 1000, perByte: 1, lengths: [1] },
    run: isController,
  }),
  row({
    name: 'debug_print',
    params: 'pp',
    results: '',
    contexts: '* s',
    cost: printCost,
    run: print,
  }),
  row({
    name: 'trap',
    params: 'pp',
    results: '',
    contexts: '* s',
    cost: trapCost,
    run: (execution, start, size) => {
      const message = readHeap(execution, { name: 'trap', start, size });
      throw calledTrap(new TextDecoder().decode(message));
    },
  }),
];
