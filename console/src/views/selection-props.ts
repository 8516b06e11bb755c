// Properties of the selection bar and its dialogs.

import type { Entry, Folder } from '../files/folder.ts';
import type { Selection } from '../files/selection.ts';
import type { Target } from './drop-area.tsx';

export interface SelectionProps {
  readonly target: Target;
  readonly folder: Folder;
  readonly selection: Selection;
  readonly entries: readonly Entry[];
  /** Otherwise the entries can only be downloaded and shared. */
  readonly mayWrite: boolean;
}

export type Action = 'share' | 'move' | 'copy' | 'delete';

/** Pixels from the left and the top of the window. */
export interface MenuPlace {
  readonly left: number;
  readonly top: number;
}
