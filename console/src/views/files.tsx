// The view of a folder: list, selection and uploads.

import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { Folder } from '../files/folder.ts';
import { createSelection, selectedOf } from '../files/selection.ts';
import { arePicturesShown, togglePictures } from '../files/thumbnails.ts';
import { deferred } from '../parts/deferred.tsx';
import { Failure } from '../parts/failure.tsx';
import { Icon } from '../parts/icon.tsx';
import type { Route } from '../route.ts';
import { addressOf } from '../route.ts';
import type { Session } from '../session.ts';
import { onStored } from '../uploads/stored.ts';
import { counted } from '../words.ts';
import { Breadcrumbs } from './breadcrumbs.tsx';
import { type Rights, useRights } from './bucket-role.ts';
import { DropArea, type Target, UploadButtons } from './drop-area.tsx';
import { FileGrid } from './file-grid.tsx';
import { FilterBox } from './filter-box.tsx';
import type { MenuPlace } from './row-menu.tsx';
import { useActions } from './selection-actions.ts';
import { SelectionBar } from './selection-bar.tsx';
import type { Action } from './selection-props.ts';
import { ShortcutHelp } from './shortcut-help.tsx';

const NewFolderDialog = deferred(
  async () => (await import('./new-folder-dialog.tsx')).NewFolderDialog,
);
const RowMenu = deferred(async () => (await import('./row-menu.tsx')).RowMenu);
const DropBoxDialog = deferred(async () => (await import('./drop-box-dialog.tsx')).DropBoxDialog);

type FilesRoute = Extract<Route, { view: 'files' }>;

/** Loads the folder, and shows the files that this page stores in it. */
function useFolder({ session, bucket, prefix }: Target, tag: string | undefined): Folder {
  const folder = useMemo(
    () => new Folder({ storage: session.storage, bucket, prefix, tag }),
    [session, bucket, prefix, tag],
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
  const tag = useSignal<string | undefined>(undefined);
  const folder = useFolder({ session, bucket, prefix }, tag.value);
  const selection = useMemo(createSelection, [folder]);
  const action = useSignal<Action | undefined>(undefined);
  const isHelpOpen = useSignal(false);
  const page = useRef<HTMLDivElement>(null);
  usePageKeys(page, () => {
    isHelpOpen.value = true;
  });
  const target = { session, bucket, prefix };
  const rights = useRights(session, bucket);
  const menu = useSignal<MenuPlace | undefined>(undefined);
  const chosen = {
    target,
    folder,
    selection,
    mayWrite: rights.mayWrite,
    entries: selectedOf(folder.entries.value, selection.paths.value),
  };
  const offered = useActions(chosen, action);
  return (
    <DropArea target={target} isOff={!rights.mayWrite}>
      <div class="page files" ref={page}>
        <Head target={target} rights={rights} />
        <Tools
          target={target}
          folder={folder}
          mayWrite={rights.mayWrite}
          onTag={(wanted) => {
            tag.value = wanted;
          }}
        />
        <Failure text={folder.failure.value} onRetry={() => void folder.loadMore()} />
        <FileGrid
          folder={folder}
          selection={selection}
          onDelete={() => {
            if (rights.mayWrite) action.value = 'delete';
          }}
          onMenu={(at) => {
            menu.value = at;
          }}
        />
        <FolderState folder={folder} tag={tag.value} mayWrite={rights.mayWrite} />
        <SelectionBar {...chosen} action={action} offered={offered} />
      </div>
      {menu.value && (
        <RowMenu
          place={menu.value}
          actions={offered}
          onClose={() => {
            menu.value = undefined;
          }}
        />
      )}
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

interface ToolsProps {
  readonly target: Target;
  readonly folder: Folder;
  readonly mayWrite: boolean;
  onTag(tag: string | undefined): void;
}

function Tools({ target, folder, mayWrite, onTag }: ToolsProps) {
  const isOpen = useSignal(false);
  const open = (next: boolean) => {
    isOpen.value = next;
  };
  return (
    <div class="tools">
      {mayWrite && (
        <UploadButtons target={target}>
          <button type="button" onClick={() => open(true)}>
            New folder
          </button>
        </UploadButtons>
      )}
      {isOpen.value && <NewFolderDialog target={target} onClose={() => open(false)} />}
      <button
        type="button"
        aria-pressed={arePicturesShown.value}
        aria-label="Show pictures"
        title="Show pictures"
        onClick={togglePictures}
      >
        <Icon name="image" />
      </button>
      <FilterBox folder={folder} onTag={onTag} />
    </div>
  );
}

function Head({ target, rights }: { target: Target; rights: Rights }) {
  const { bucket, prefix } = target;
  const isOpen = useSignal(false);
  const open = (next: boolean) => {
    isOpen.value = next;
  };
  return (
    <div class="files-head">
      <Breadcrumbs bucket={bucket} path={prefix} />
      <div class="buttons">
        {rights.isOwner && (
          <button type="button" onClick={() => open(true)}>
            Receive files
          </button>
        )}
        {rights.keepsVersions && (
          <a class="button" href={addressOf({ view: 'deleted', bucket })}>
            Deleted files
          </a>
        )}
        <a class="button" href={addressOf({ view: 'bucket', bucket })}>
          About the bucket
        </a>
      </div>
      {isOpen.value && <DropBoxDialog target={target} onClose={() => open(false)} />}
    </div>
  );
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

interface FolderStateProps {
  readonly folder: Folder;
  readonly tag: string | undefined;
  readonly mayWrite: boolean;
}

function FolderState({ folder, tag, mayWrite }: FolderStateProps) {
  const { length } = folder.entries.value;
  const isEmpty = length === 0 && folder.state.value === 'complete';
  const isSearch = folder.filter.value !== '' || tag !== undefined;
  return (
    <p class="state" role="status">
      {folder.state.value === 'loading' && 'Loading …'}
      {isEmpty && isSearch && 'Nothing matches the filter.'}
      {isEmpty && !isSearch && (mayWrite ? emptyForWriters : 'Nothing here yet.')}
      {length > 0 && folder.state.value === 'complete' && summaryOf(folder)}
      {length > 0 &&
        folder.state.value === 'more' &&
        `${counted(length, 'entry', 'entries')} so far`}
    </p>
  );
}

const emptyForWriters = 'Nothing here yet. Drop files or folders here, or choose some above.';

function summaryOf(folder: Folder): string {
  const entries = folder.entries.value;
  const folders = entries.filter(({ isFolder }) => isFolder).length;
  const files = counted(entries.length - folders, 'file');
  return folders === 0 ? files : `${counted(folders, 'folder')}, ${files}`;
}
