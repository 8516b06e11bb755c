// The most expensive refused message of each way to call, as rows of the bench.

import { IDL } from '@dfinity/candid';
import type { MessageReport } from '../packages/replica/src/core.ts';
import type { Replica } from '../packages/replica/src/replica.ts';
import { principalOf, type ServiceDescription } from '../scripts/local-service.ts';
import { measureRefusals, mostExpensive, type Way } from '../tests/support/refusal-costs.ts';
import type { BenchRow } from './table.ts';

const beginTypes = [IDL.Text, IDL.Text, IDL.Text, IDL.Nat, IDL.Opt(IDL.Text)];
const TextResult = IDL.Variant({ ok: IDL.Text, err: IDL.Text });
const ways: readonly (readonly [way: Way, name: string])[] = [
  ['query', 'refused query'],
  ['ingress', 'refused ingress message'],
  ['another canister', 'refused call from another canister'],
];

export async function measureRefusalRows(target: {
  readonly replica: Replica;
  readonly service: ServiceDescription;
  readonly reports: readonly MessageReport[];
}): Promise<BenchRow[]> {
  const { replica, service, reports } = target;
  const { canisterId, apiKey, bucket, identityPem } = service;
  // Stops the timers: none may run between a message and its report.
  replica.advanceTime(0n);
  const argument = IDL.encode(beginTypes, [bucket, 'u', 'a/b', 5n, [apiKey]]);
  const reply = await replica.call(canisterId, 'beginFileUpload', argument);
  const [begun] = IDL.decode([TextResult], reply) as unknown as [{ ok?: string }];
  const honest = { apiKey, uploadId: begun.ok ?? '' };
  const owner = principalOf(identityPem);
  const refusals = await measureRefusals({ replica, canisterId, reports, honest, owner });
  return ways.flatMap(([way, wayName]) => {
    const worst = mostExpensive(refusals, way);
    if (worst === undefined) return [];
    const tried = refusals.filter((refusal) => refusal.way === way).length.toLocaleString('en-US');
    const name = `${wayName}, most expensive of ${tried}: ${worst.method}, ${worst.name}`;
    const { instructions, cycles, milliseconds } = worst;
    return [{ name, bytes: 0, instructions, cycles, milliseconds }];
  });
}
