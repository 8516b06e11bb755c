// Returns a damaged state folder to an intact state, and reports the loss. Stable memory is never
// guessed: if it is damaged, or if neither copy of the snapshot nor a journal from the first commit
// on can be read, nothing is changed.

import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { StateDamage } from '../state-damage.ts';
import { AnsweredMark } from './answered-mark.ts';
import { Journal } from './journal.ts';
import { moduleFileName } from './module-files.ts';
import {
  journalPath,
  markPath,
  openState,
  replayInto,
  StateContent,
  type StatePlace,
} from './open-state.ts';
import {
  emptySnapshot,
  hasSnapshots,
  type ReadSnapshot,
  readSnapshot,
  readSnapshotCopy,
} from './snapshot-file.ts';
import { writeCheckpoint } from './write-checkpoint.ts';

type Note = (sentence: string) => void;

/** Throws StateDamage if no intact state is left. */
export function repairState(place: StatePlace, note: Note): void {
  const badModules = badModulesOf(place.directory);
  const damage = findDamage(place);
  if (damage === undefined && badModules.length === 0) {
    note('Nothing of the state is damaged: no repair was needed.');
  }
  if (damage !== undefined) {
    note(`${damage}.`);
    const snapshots = snapshotsOf(place.directory);
    if (!snapshots.some((snapshot) => goBack(place, { snapshot, note }))) {
      throw new StateDamage(`${damage}; no intact state is left, so --repair cannot help`);
    }
  }
  removeModules(badModules, note);
}

/** Returns the paths of modules whose hash is not their name. */
function badModulesOf(directory: string): string[] {
  const folder = join(directory, 'modules');
  return readdirSync(folder)
    .filter((name) => moduleFileName(readFileSync(join(folder, name))) !== name)
    .map((name) => join(folder, name));
}

function removeModules(paths: readonly string[], note: Note): void {
  for (const path of paths) {
    rmSync(path);
    note(
      `The module ${basename(path)} is damaged and was removed: upgrade its canister to run it again.`,
    );
  }
}

function findDamage(place: StatePlace): string | undefined {
  try {
    const { content, journal, mark } = openState(place);
    try {
      for (const { file } of content.files()) file.checkPages();
    } finally {
      content.close();
      journal.close();
      mark.close();
    }
    return undefined;
  } catch (error) {
    return damageOf(error);
  }
}

function damageOf(error: unknown): string {
  if (error instanceof StateDamage) return error.message;
  throw error;
}

/**
 * Returns the snapshots that can be restored, the newest first. Before the first snapshot, the
 * journal contains all changes.
 */
function snapshotsOf(directory: string): ReadSnapshot[] {
  if (!hasSnapshots(directory)) return [emptySnapshot];
  const found: ReadSnapshot[] = [];
  try {
    const snapshot = readSnapshot(directory);
    if (snapshot !== undefined) found.push(snapshot);
  } catch (error) {
    damageOf(error);
  }
  const copy = readSnapshotCopy(directory);
  if (copy !== undefined) found.push(copy);
  return found.sort((left, right) => right.sequence - left.sequence);
}

/** Returns false, without a change, if no intact state can be built on this snapshot. */
function goBack(
  place: StatePlace,
  target: { readonly snapshot: ReadSnapshot; readonly note: Note },
): boolean {
  const { snapshot, note } = target;
  const content = new StateContent(place, snapshot);
  try {
    const sequence = replayWhole(place, { content, snapshot });
    // Without a snapshot, a journal with no readable commit leaves no state to return to.
    if (snapshot === emptySnapshot && sequence === 0) return false;
    const lostHeaps = checkMemories(content);
    if (lostHeaps === undefined) return false;
    for (const canisterId of lostHeaps) {
      content.forgetHeap(canisterId);
      note(`The heap of ${canisterId} is lost: the canister is started as by an upgrade.`);
    }
    note(lossOf(answeredOf(place.directory), sequence));
    writeCheckpoint(place, { content, sequence });
    return true;
  } finally {
    content.close();
  }
}

/** Applies the journal's complete commits, up to the damage; returns the last one's number. */
function replayWhole(
  place: StatePlace,
  target: { readonly content: StateContent; readonly snapshot: ReadSnapshot },
): number {
  const { content, snapshot } = target;
  const path = journalPath(place.directory);
  if (!existsSync(path)) return snapshot.sequence;
  let journal: Journal | undefined;
  try {
    const { sync, onWrite } = place;
    // An end that is never reached keeps `replay` from cutting the journal, which must stay as it
    // is if no state is intact.
    const answered = Number.POSITIVE_INFINITY;
    journal = new Journal(path, { sync, onWrite, snapshot, answered });
    replayInto(content, journal);
  } catch (error) {
    damageOf(error);
  } finally {
    journal?.close();
  }
  return journal?.lastSequence ?? snapshot.sequence;
}

/** Returns the canisters whose heap is damaged; `undefined` if a stable memory is. */
function checkMemories(content: StateContent): string[] | undefined {
  const lost: string[] = [];
  for (const { canisterId, kind, file } of content.files()) {
    try {
      file.check();
      file.checkPages();
    } catch (error) {
      damageOf(error);
      if (kind === 'stable') return undefined;
      lost.push(canisterId);
    }
  }
  return lost;
}

function answeredOf(directory: string): number | undefined {
  try {
    const mark = new AnsweredMark(markPath(directory));
    mark.close();
    return mark.found;
  } catch (error) {
    damageOf(error);
    return undefined;
  }
}

function lossOf(answered: number | undefined, sequence: number): string {
  if (answered === undefined) {
    return `The state is now as of change ${sequence}; whether later ones are lost is not known.`;
  }
  const lost = answered - sequence;
  if (lost <= 0) return `The state is now as of change ${sequence}: nothing answered is lost.`;
  return `The state is now as of change ${sequence}: the ${lost} changes after it are lost.`;
}
