// Converts a state folder of the former layout, without page checksums and heaps, to one checkpoint
// of the current layout. An interrupted conversion starts over.

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
  // Pages of the former layout may be newer than its snapshot; the journal makes them consistent.
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
