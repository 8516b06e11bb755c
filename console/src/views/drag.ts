// Dragging of rows: entries that are dropped on a folder of the page are moved there.

import { signal } from '@preact/signals';
import { sentenceOf } from '../failures.ts';
import type { Entry, Folder } from '../files/folder.ts';
import { type Selection, selectedOf } from '../files/selection.ts';
import { tell } from '../notices.ts';

/** Type of the dragged data. Dragged files of the computer have another type. */
const dragType = 'application/x-efs-entries';

/** On touch screens, a long press opens the menu of a row. */
const hasMouse = matchMedia('(any-pointer: fine)').matches;

/** Moves entries into the folder; absent if the caller may not write. */
export type MoveInto = ((entries: readonly Entry[], prefix: string) => void) | undefined;

let dragged: readonly Entry[] = [];
/** The folder below the pointer, which would receive the dragged entries. */
const hovered = signal<string | undefined>(undefined);

export function isHovered(prefix: string): boolean {
  return hovered.value === prefix;
}

function end(): void {
  dragged = [];
  hovered.value = undefined;
}

/** Returns properties of a row that can be dragged; a selected row takes the selection along. */
export function dragSource(entry: Entry, folder: Folder, selection: Selection) {
  return {
    draggable: hasMouse,
    onDragStart({ dataTransfer }: DragEvent) {
      if (dataTransfer === null) return;
      const selected = selectedOf(folder.entries.value, selection.paths.value);
      dragged = selected.includes(entry) ? selected : [entry];
      // Some browsers drag nothing without data.
      dataTransfer.setData(dragType, entry.path);
      dataTransfer.effectAllowed = 'move';
    },
    onDragEnd: end,
  };
}

/** Returns the properties of an element that stands for a folder. */
export function dropTarget(prefix: string, move: MoveInto) {
  if (move === undefined) return {};
  const isTarget = ({ dataTransfer }: DragEvent) =>
    dataTransfer?.types.includes(dragType) && !dragged.some(({ path }) => path === prefix);
  return {
    onDragOver(event: DragEvent) {
      if (!isTarget(event)) return;
      event.preventDefault();
      hovered.value = prefix;
    },
    onDragLeave({ currentTarget, relatedTarget }: DragEvent) {
      // The pointer may be over a child of the element.
      if ((currentTarget as Node).contains(relatedTarget as Node | null)) return;
      hovered.value = undefined;
    },
    onDrop(event: DragEvent) {
      if (!isTarget(event)) return;
      event.preventDefault();
      event.stopPropagation();
      const entries = dragged;
      end();
      if (entries.length > 0) move(entries, prefix);
    },
  };
}

/** Returns how entries of the folder move; loads the code for it at the first drop. */
export function moveIntoOf(folder: Folder, selection: Selection): MoveInto {
  return (entries, prefix) => {
    import('./move-entries.ts').then(
      ({ moveDropped }) => moveDropped({ folder, selection, entries }, prefix),
      (error) => tell(sentenceOf(error), { isFailure: true }),
    );
  };
}
