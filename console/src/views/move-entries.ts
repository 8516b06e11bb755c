// Moves and copies of the shown entries: changes the list, reports the result and offers Undo.

import { sentenceOf } from '../failures.ts';
import {
  type Arrangement,
  copyEntries,
  moveEntries,
  newArrangement,
  type TargetOf,
  targetsIn,
  type Watch,
} from '../files/arrange.ts';
import type { Folder } from '../files/folder.ts';
import { texts } from '../language.ts';
import { dismiss, tell } from '../notices.ts';
import { tellStored } from '../uploads/stored.ts';
import { placeName } from '../words.ts';
import type { SelectionProps } from './selection-props.ts';

type Moved = Pick<SelectionProps, 'folder' | 'selection' | 'entries'>;

interface Order {
  readonly kind: 'rename' | 'move' | 'copy';
  readonly toBucket: string;
  /** The folder that receives the entries. */
  readonly prefix: string;
  readonly targetOf: TargetOf;
  /** The same for each attempt. */
  readonly done: Arrangement;
  readonly watch?: Watch;
}

export async function arrangeEntries(moved: Moved, order: Order): Promise<void> {
  const { folder, selection, entries } = moved;
  const { kind, toBucket, targetOf, done, watch } = order;
  const { storage, bucket } = folder.place;
  const arrange = kind === 'copy' ? copyEntries : moveEntries;
  try {
    await arrange({ storage, bucket, toBucket, ...watch }, entries, targetOf, done);
  } finally {
    // After a failure, the entries that have not moved stay in the list.
    folder.drop(new Set(done.moved.keys()));
    show(folder, toBucket, done);
  }
  selection.clear();
  const count = kind === 'copy' ? entries.length : done.moved.size;
  tellArranged(folder, order, count);
}

/** Adds the targets to the list that shows them. */
function show(folder: Folder, toBucket: string, { files, moved }: Arrangement): void {
  tellStored(toBucket, files);
  const folders = [...moved.values()].filter((path) => path.endsWith('/'));
  if (folder.place.bucket === toBucket) folder.putFolders(folders);
}

function tellArranged(folder: Folder, order: Order, count: number): void {
  const { kind, toBucket, prefix, done } = order;
  const { moving, page } = texts();
  const place = placeName(toBucket, prefix);
  const undo = { label: page.undo, run: () => void undoMove(folder, toBucket, done) };
  const said = {
    rename: moving.renamed(count),
    move: moving.moved(count, place),
    copy: moving.copied(count, place),
  };
  tell(said[kind], { action: done.moved.size === 0 ? undefined : undo });
}

/** Moves each entry back from its target. */
async function undoMove(folder: Folder, toBucket: string, { moved }: Arrangement): Promise<void> {
  const { storage, bucket, prefix } = folder.place;
  const sources = new Map([...moved].map(([from, to]) => [to, from]));
  const entries = [...sources.keys()].map((path) => ({ path, isFolder: path.endsWith('/') }));
  const done = newArrangement();
  const place = { storage, bucket: toBucket, toBucket: bucket };
  try {
    await moveEntries(place, entries, ({ path }) => sources.get(path) ?? path, done);
    tell(texts().moving.movedBack(done.moved.size, placeName(bucket, prefix)));
  } catch (error) {
    tell(sentenceOf(error), { isFailure: true });
  } finally {
    if (toBucket === bucket) folder.drop(new Set(done.moved.keys()));
    show(folder, bucket, done);
  }
}

/** Moves entries that were dropped on a folder of the same bucket. */
export async function moveDropped(moved: Moved, prefix: string): Promise<void> {
  const { folder, entries } = moved;
  const done = newArrangement();
  const targetOf = targetsIn(prefix, false);
  const { bucket: toBucket } = folder.place;
  const order: Order = { kind: 'move', toBucket, prefix, targetOf, done };
  const notice = tell(texts().moving.underWay(entries.length));
  try {
    await arrangeEntries(moved, order);
  } catch (error) {
    // The entries before the failure have moved.
    if (done.moved.size > 0) tellArranged(folder, order, done.moved.size);
    tell(sentenceOf(error), { isFailure: true });
  } finally {
    dismiss(notice);
  }
}
