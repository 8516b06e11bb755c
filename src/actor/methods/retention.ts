// Actor methods for retention and legal holds of versions.

import { setHold, setRetention } from '../../domain/files/retention-changes.ts';
import { HoldChange, RetentionChange } from '../candid/retention.ts';
import { ResultFile } from '../candid/types.ts';
import { update } from '../dispatch/method.ts';
import {
  type HoldArgument,
  holdChangeOf,
  type RetentionArgument,
  retentionChangeOf,
} from '../messages/retention-arguments.ts';
import { currentCall } from '../runtime/call.ts';
import { startUpkeep, stores } from '../runtime/runtime.ts';
import { replyFile } from './file-reply.ts';

/** Retention and holds: nothing replaces, deletes, moves or changes a held version. */
export class RetentionActor {
  /**
   * Retains a version until a time, for owners and keys with `retain`. Lengthening is always
   * allowed. Nobody shortens a retention in compliance mode; one in governance mode needs
   * `bypassGovernance`. ok is the version's record. Errors: AccessDenied, FileHeld, NoSuchFile.
   */
  @update([RetentionChange], ResultFile, { manual: true })
  setRetention(): void | Promise<void> {
    const signature = { name: 'setRetention', parameters: [RetentionChange] };
    return replyFile(signature, (argument: RetentionArgument) => {
      return setRetention(stores, currentCall(), retentionChangeOf(argument));
    });
  }

  /**
   * Sets or removes the legal hold of a version, for owners and keys with `retain`. ok is the
   * version's record. Errors: AccessDenied, NoSuchFile.
   */
  @update([HoldChange], ResultFile, { manual: true })
  setHold(): void | Promise<void> {
    const signature = { name: 'setHold', parameters: [HoldChange] };
    return replyFile(signature, (argument: HoldArgument) => {
      const changed = setHold(stores, currentCall(), holdChangeOf(argument));
      // A version whose hold ends may have expired long ago
      startUpkeep();
      return changed;
    });
  }
}
