// Reports of public buckets to a front by a canister that a test controls, as by a volume.

import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import { PublicBucketReport } from '../../../src/actor/candid/service.ts';
import { ResultNull } from '../../../src/actor/candid/types.ts';
import type { Forwarder } from '../forwarder/forwarder.ts';

/** Returns a report whose range is all ids, with other fields as given. */
export function reportOf(volume: Principal, fields: object = {}): Uint8Array {
  const whole = {
    origin: `https://${volume}.icp.net`,
    after: '',
    through: [],
    buckets: [],
    state: [],
  };
  return new Uint8Array(IDL.encode([PublicBucketReport], [{ ...whole, ...fields }]));
}

export interface ReportOutcome {
  readonly ok?: null;
  readonly err?: string;
}

/** Sends a report by the forwarder to a canister. */
export async function sendReport(
  forwarder: Forwarder,
  to: Principal,
  fields: object,
): Promise<ReportOutcome> {
  const argument = reportOf(forwarder.id, fields);
  const reply = await forwarder.call(to.toText(), 'reportPublicBuckets', argument);
  return IDL.decode([ResultNull], reply)[0] as ReportOutcome;
}
