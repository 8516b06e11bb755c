// Actor methods that copy, move and change files. Their answers are encoded by
// file-record-messages.ts.

import { copyFile, moveFile } from '../../domain/files/copies.ts';
import { changeFile } from '../../domain/files/file-changes.ts';
import { switchFiles } from '../../domain/files/file-switch.ts';
import { moveFiles } from '../../domain/files/prefix-moves.ts';
import {
  CopyRequest,
  FileChange,
  FileSwitch,
  PrefixMove,
  ResultPrefixMove,
  ResultSwitch,
} from '../candid/operations.ts';
import { encodeResult } from '../candid/result.ts';
import { ResultFile } from '../candid/types.ts';
import { carryOut, update } from '../dispatch/method.ts';
import { decodeFileSwitch } from '../messages/batch-messages.ts';
import {
  type ChangeArgument,
  type CopyArgument,
  changeOf,
  copyOrderOf,
  type PrefixArgument,
  prefixOrderOf,
  switchClaimOf,
} from '../messages/copy-arguments.ts';
import { optional } from '../messages/optional.ts';
import { answer, currentCall } from '../runtime/call.ts';
import { stores } from '../runtime/runtime.ts';
import { replyFile } from './file-reply.ts';

/** Copies, moves and changes: no bytes are sent again. */
export class CopiesActor {
  /**
   * Copies a file. ok is the copy's record. Errors: AccessDenied, NoSuchFile, QuotaExceeded,
   * PreconditionFailed.
   */
  @update([CopyRequest], ResultFile, { manual: true })
  copyFile(): void | Promise<void> {
    const signature = { name: 'copyFile', parameters: [CopyRequest] };
    return replyFile(signature, (argument: CopyArgument) => {
      return copyFile(stores, currentCall(), copyOrderOf(argument));
    });
  }

  /** Moves a file. ok is the record at the new path. Errors: those of copyFile. */
  @update([CopyRequest], ResultFile, { manual: true })
  moveFile(): void | Promise<void> {
    const signature = { name: 'moveFile', parameters: [CopyRequest] };
    return replyFile(signature, (argument: CopyArgument) => {
      return moveFile(stores, currentCall(), copyOrderOf(argument));
    });
  }

  /**
   * Moves up to 1,000 files, fewer with many chunks or links. Call again with the cursor until
   * `isDone`.
   */
  @update([PrefixMove], ResultPrefixMove)
  moveFiles(argument: PrefixArgument) {
    return answer(() => {
      const order = prefixOrderOf(argument);
      const { moved, isDone, nextCursor, failed } = moveFiles(stores, currentCall(), order);
      const shown = failed.map(({ path, error: { code, message } }) => {
        return { path, error: `${code}: ${message}` };
      });
      return { moved, isDone, nextCursor: optional(nextCursor), failed: shown };
    });
  }

  /**
   * Moves all files below a prefix and deletes others, in one message: all or nothing. Errors:
   * AccessDenied, EntityTooLarge, FileHeld, IntegrityError, PreconditionFailed.
   */
  @update([FileSwitch], ResultSwitch, { manual: true })
  switchFiles(): void | Promise<void> {
    const signature = { name: 'switchFiles', parameters: [FileSwitch] };
    return carryOut(signature, {
      decode: decodeFileSwitch,
      run: (argument) => {
        const readDeletes = () => argument.readPaths() ?? [];
        return switchFiles(stores, currentCall(), { ...switchClaimOf(argument), readDeletes });
      },
      encode: (result) => encodeResult(ResultSwitch, result),
    });
  }

  /**
   * Changes type, tags, headers and metadata of a file, but not its bytes. ok is its record. For a
   * key without the right to read, fields that the call did not send are empty.
   */
  @update([FileChange], ResultFile, { manual: true })
  updateFile(): void | Promise<void> {
    const signature = { name: 'updateFile', parameters: [FileChange] };
    return replyFile(signature, (argument: ChangeArgument) => {
      return changeFile(stores, currentCall(), changeOf(argument));
    });
  }
}
