// System API rows: cycles of canisters and calls, and prices. IC spec, "System API".

import { chargeOn } from '../subnet-type.ts';
import type { Execution } from './canister.ts';
import { contractViolation, trapped } from './errors.ts';
import { liquidCycles } from './freezing.ts';
import type { Row } from './ic0-row.ts';
import { copyCost, from128, readText, row, usualCost, write128 } from './ic0-row.ts';
import {
  callPrice,
  callReserveCycles,
  canisterCreationCycles,
  httpRequestCycles,
  thresholdKeyCycles,
} from './prices.ts';

const received = 'U RQ Rt Ry';
const maximum64 = 2n ** 64n - 1n;

function as64(value: bigint): bigint {
  if (value > maximum64) {
    throw trapped('cycles amount exceeds 64-bit representation');
  }
  return value;
}

function accept(execution: Execution, most: bigint): bigint {
  const { effects } = execution;
  const amount = most < effects.availableCycles ? most : effects.availableCycles;
  effects.availableCycles -= amount;
  effects.cycles += amount;
  return amount;
}

function burn(execution: Execution, most: bigint): bigint {
  const liquid = liquidCycles(execution);
  const amount = most < liquid ? most : liquid;
  execution.effects.cycles -= amount;
  return amount;
}

/** Returns the rows of an amount: as i64 if `has64`, and as 128 bits at a pointer. */
function amountRows(spec: {
  readonly name: string;
  readonly contexts: string;
  readonly read: (execution: Execution) => bigint;
  readonly has64: boolean;
}): Row[] {
  const { name, contexts, read } = spec;
  const wide = `${name}128`;
  const rows = [
    row({
      name: wide,
      params: 'p',
      results: '',
      contexts,
      cost: usualCost,
      run: (execution, destination) =>
        write128(execution, { name: wide, destination, value: read(execution) }),
    }),
  ];
  if (!spec.has64) return rows;
  const narrow = row({
    name,
    params: '',
    results: 'I',
    contexts,
    isOnly32: true,
    cost: usualCost,
    run: (execution) => as64(read(execution)),
  });
  return [narrow, ...rows];
}

/** Writes a price, which is 0 where nothing is charged. */
function writePrice(execution: Execution, price: Parameters<typeof write128>[1]): undefined {
  const value = chargeOn(execution.world.subnetType, price.value);
  return write128(execution, { ...price, value });
}

/** `(name, size, curve, destination) -> code`: 1 unknown curve, 2 unknown key. */
function keyCostRow(name: string, curves: number): Row {
  return row({
    name,
    params: 'ppip',
    results: 'i',
    contexts: '* s',
    cost: copyCost(1),
    run: (execution, start, size, curve, destination) => {
      const key = readText(execution, { name, start, size });
      if (curve >= curves) return 1;
      const value = thresholdKeyCycles(key);
      if (value === undefined) return 2;
      writePrice(execution, { name, destination, value });
      return 0;
    },
  });
}

const costRows: readonly Row[] = [
  row({
    name: 'cost_call',
    params: 'IIp',
    results: '',
    contexts: '* s',
    cost: usualCost,
    run: (execution, nameBytes, payloadBytes, destination) => {
      const { updateInstructions } = execution.world.limits;
      const value = callReserveCycles(callPrice(nameBytes + payloadBytes, updateInstructions));
      return writePrice(execution, { name: 'cost_call', destination, value });
    },
  }),
  row({
    name: 'cost_create_canister',
    params: 'p',
    results: '',
    contexts: '* s',
    cost: usualCost,
    run: (execution, destination) =>
      writePrice(execution, {
        name: 'cost_create_canister',
        destination,
        value: canisterCreationCycles,
      }),
  }),
  row({
    name: 'cost_http_request',
    params: 'IIp',
    results: '',
    contexts: '* s',
    cost: usualCost,
    run: (execution, requestBytes, responseBytes, destination) => {
      const value = httpRequestCycles(requestBytes, responseBytes);
      return writePrice(execution, { name: 'cost_http_request', destination, value });
    },
  }),
  keyCostRow('cost_sign_with_ecdsa', 1),
  keyCostRow('cost_sign_with_schnorr', 2),
  keyCostRow('cost_vetkd_derive_key', 1),
];

export const cyclesRows: readonly Row[] = [
  ...amountRows({
    name: 'msg_cycles_available',
    contexts: received,
    read: (execution) => execution.effects.availableCycles,
    has64: true,
  }),
  ...amountRows({
    name: 'msg_cycles_refunded',
    contexts: 'Rt Ry',
    read: (execution) => execution.refundedCycles,
    has64: true,
  }),
  ...amountRows({
    name: 'canister_cycle_balance',
    contexts: '*',
    read: (execution) => execution.effects.cycles,
    has64: true,
  }),
  ...amountRows({
    name: 'canister_liquid_cycle_balance',
    contexts: '*',
    read: liquidCycles,
    has64: false,
  }),
  row({
    name: 'msg_cycles_accept',
    params: 'I',
    results: 'I',
    contexts: received,
    isOnly32: true,
    cost: usualCost,
    run: accept,
  }),
  row({
    name: 'msg_cycles_accept128',
    params: 'IIp',
    results: '',
    contexts: received,
    cost: usualCost,
    run: (execution, high, low, destination) => {
      const value = accept(execution, from128(high, low));
      return write128(execution, { name: 'msg_cycles_accept128', destination, value });
    },
  }),
  row({
    name: 'cycles_burn128',
    params: 'IIp',
    results: '',
    contexts: 'I G U RQ Ry Rt C T',
    cost: usualCost,
    run: (execution, high, low, destination) => {
      const value = burn(execution, from128(high, low));
      return write128(execution, { name: 'cycles_burn128', destination, value });
    },
  }),
  row({
    name: 'mint_cycles128',
    params: 'IIp',
    results: '',
    contexts: 'U Ry Rt T',
    cost: { fixed: 0 },
    run: (execution) => {
      throw contractViolation(
        'ic0.mint_cycles128 cannot be executed on non Cycles Minting Canister: ' +
          `${execution.canister.idText} != rkp4c-7iaaa-aaaaa-aaaca-cai`,
      );
    },
  }),
  ...costRows,
];
