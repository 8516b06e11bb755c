// Takes up a state folder of the former layout, which had no checksums of pages and no heaps: its
// content becomes one checkpoint of the current layout. Cut short, it is begun again.

import { existsSync } from 'node:fs';
import { Journal } from './journal.ts';
import { journalPath, replayInto, StateContent, type StatePlace } from './open-state.ts';
import { emptySnapshot, readSnapshot } from './snapshot-file.ts';
import { writeMarker } from './state-folder.ts';
import { writeCheckpoint } from './write-checkpoint.ts';

/** Throws StateDamage. */
export function takeUpFormerState(place: StatePlace): void {
  const { directory, sync, onWrite } = place;
  const snapshot = readSnapshot(directory) ?? emptySnapshot;
  const content = new StateContent(place, snapshot);
  // Pages of the former layout may be ahead of its snapshot; the journal brings all to one time.
  if (snapshot.isFormer) for (const { file } of content.files()) file.adopt();
  let sequence = snapshot.sequence;
  if (existsSync(journalPath(directory))) {
    const options = { sync, onWrite, snapshot, answered: 0 };
    const journal = new Journal(journalPath(directory), options);
    replayInto(content, journal);
    sequence = journal.lastSequence;
    journal.close();
  }
  writeCheckpoint(place, { content, sequence });
  content.close();
  writeMarker(directory);
}
