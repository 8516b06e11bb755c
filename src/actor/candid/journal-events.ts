// The argument of a subscriber's method. It is no type of this canister's interface;
// docs/how-to/events-to-a-canister.md shows it.

import { IDL } from '@dfinity/candid';
import { JournalEntry } from './journal.ts';

/**
 * The argument of a subscriber's method. A reply acknowledges the entries, whatever its content; a
 * reject, a trap or no reply within 60 seconds lets them be sent again.
 */
export const JournalEvents = IDL.Record({
  bucketId: IDL.Text,
  /** Id of the subscription. */
  subscription: IDL.Nat,
  /** The cursor before: the number of the last entry that was acknowledged or did not match. */
  after: IDL.Nat,
  /** At least one and at most 100, the oldest first. */
  entries: IDL.Vec(JournalEntry),
  /** The cursor that a reply acknowledges. */
  cursor: IDL.Nat,
});
