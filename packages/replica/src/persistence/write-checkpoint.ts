// A checkpoint: writes all committed data to the page files and the snapshot, and starts an empty
// journal. A crash between two steps leaves the former snapshot with its journal, or the new one
// with the former journal; both are intact.

import { writeAnsweredMark } from './answered-mark.ts';
import { writeEmptyJournal } from './journal.ts';
import { journalPath, markPath, type StateContent, type StatePlace } from './open-state.ts';
import { writeSnapshot } from './snapshot-file.ts';

/** Requires that the journal and the mark of the folder are closed. */
export function writeCheckpoint(
  place: Pick<StatePlace, 'directory'>,
  state: { readonly content: StateContent; readonly sequence: number },
): void {
  const { directory } = place;
  const { content, sequence } = state;
  const checksum = writeSnapshot(directory, { ...content.checkpoint(), sequence });
  writeAnsweredMark(markPath(directory), sequence);
  writeEmptyJournal(journalPath(directory), { sequence, checksum });
}
