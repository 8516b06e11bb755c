// The view of a folder: list, selection and uploads.

import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { Folder } from '../files/folder.ts';
import { createSelection, selectedOf } from '../files/selection.ts';
import { deferred } from '../parts/deferred.tsx';
import type { Route } from '../route.ts';
import type { Session } from '../session.ts';
import { onStored } from '../uploads/stored.ts';
import { BucketHead } from './bucket-head.tsx';
import { useRights } from './bucket-role.ts';
import { moveIntoOf } from './drag.ts';
import { DropArea, type Target } from './drop-area.tsx';
import { FileGrid } from './file-grid.tsx';
import { FilterBox, type Search } from './filter-box.tsx';
import { FolderMenu, FolderTools, useFolderActions } from './folder-actions.tsx';
import { FolderState } from './folder-state.tsx';
import type { Action, MenuPlace } from './selection-props.ts';

const ShortcutHelp = deferred(async () => (await import('./shortcut-help.tsx')).ShortcutHelp);
const loadSelectionBar = () => import('./selection-bar.tsx');
const SelectionBar = deferred(async () => (await loadSelectionBar()).SelectionBar);

type FilesRoute = Extract<Route, { view: 'files' }>;

/** Loads the folder or the search, and shows the files that this page stores in it. */
function useFolder({ session, bucket, prefix }: Target, search: Search | undefined): Folder {
  const folder = useMemo(
    () => new Folder({ storage: session.storage, bucket, prefix, ...search }),
    [session, bucket, prefix, search],
  );
  useEffect(() => {
    void folder.loadMore();
    const forget = onStored((stored, files) => {
      if (stored === bucket) folder.put(files);
    });
    return () => {
      forget();
      folder.close();
    };
  }, [folder]);
  return folder;
}

export function FilesPage({ session, place }: { session: Session; place: FilesRoute }) {
  const { bucket, prefix } = place;
  const search = useSignal<Search | undefined>(undefined);
  const text = useSignal('');
  const folder = useFolder({ session, bucket, prefix }, search.value);
  const selection = useMemo(createSelection, [folder]);
  const action = useSignal<Action | undefined>(undefined);
  const isHelpOpen = useSignal(false);
  const page = useRef<HTMLDivElement>(null);
  usePageKeys(page, () => {
    isHelpOpen.value = true;
  });
  const target = { session, bucket, prefix };
  const rights = useRights(session, bucket);
  const { actions, dialog } = useFolderActions(target, rights);
  const menu = useSignal<MenuPlace | undefined>(undefined);
  const chosen = {
    // A search may have found files above the shown folder.
    target: { ...target, prefix: folder.place.prefix },
    folder,
    selection,
    mayWrite: rights.mayWrite,
    entries: selectedOf(folder.entries.value, selection.paths.value),
  };
  const hasSelected = useHasSelected(folder, chosen.entries.length > 0);
  const onMove = rights.mayWrite ? moveIntoOf(folder, selection) : undefined;
  return (
    <DropArea target={target} isOff={!rights.mayWrite}>
      <div class="page files" ref={page}>
        <BucketHead place={place} rights={rights} onMove={onMove}>
          <FolderMenu actions={actions} />
        </BucketHead>
        <div class="bars">
          <FolderTools target={target} mayWrite={rights.mayWrite} actions={actions} />
          <FilterBox folder={folder} prefix={prefix} text={text} search={search} />
          {hasSelected && <SelectionBar {...chosen} action={action} menu={menu} />}
        </div>
        {folder.entries.value.length > 0 && (
          <FileGrid
            folder={folder}
            selection={selection}
            mayWrite={rights.mayWrite}
            onMove={onMove}
            onDelete={() => {
              if (rights.mayWrite) action.value = 'delete';
            }}
            onMenu={(at) => {
              menu.value = at;
            }}
          />
        )}
        <FolderState {...{ folder, target, text, search }} mayWrite={rights.mayWrite} />
      </div>
      {dialog}
      {isHelpOpen.value && (
        <ShortcutHelp
          onClose={() => {
            isHelpOpen.value = false;
          }}
        />
      )}
    </DropArea>
  );
}

/** Loads the bar after the list. Once shown it stays, because it knows of downloads under way. */
function useHasSelected(folder: Folder, isSelected: boolean): boolean {
  const has = useRef(false);
  has.current ||= isSelected;
  const isShown = folder.entries.value.length > 0;
  useEffect(() => {
    if (isShown) void loadSelectionBar().catch(() => {});
  }, [isShown]);
  return has.current;
}

/** Handles `/` (filter) and `?` (help), unless the user is typing a text. */
function usePageKeys(page: { current: HTMLElement | null }, openHelp: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      const isTyping = /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
      const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
      const isOver = document.querySelector('dialog[open]') !== null;
      if (isTyping || !isPlain || isOver) return;
      if (event.key === '/') page.current?.querySelector<HTMLElement>('[type=search]')?.focus();
      else if (event.key === '?') openHelp();
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}
