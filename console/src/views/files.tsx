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
import { DropArea, type Target, UploadButtons } from './drop-area.tsx';
import { FileGrid } from './file-grid.tsx';
import { FilterBox } from './filter-box.tsx';
import { SelectionBar } from './selection-bar.tsx';
import type { Action } from './selection-props.ts';
import { ShortcutHelp } from './shortcut-help.tsx';

const DropBoxDialog = deferred(async () => (await import('./drop-box-dialog.tsx')).DropBoxDialog);

type FilesRoute = Extract<Route, { view: 'files' }>;

export function FilesPage({ session, place }: { session: Session; place: FilesRoute }) {
  const { bucket, prefix } = place;
  const tag = useSignal<string | undefined>(undefined);
  const folder = useMemo(
    () => new Folder({ storage: session.storage, bucket, prefix, tag: tag.value }),
    [session, bucket, prefix, tag.value],
  );
  const selection = useMemo(createSelection, [folder]);
  const action = useSignal<Action | undefined>(undefined);
  const isHelpOpen = useSignal(false);
  const page = useRef<HTMLDivElement>(null);
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
  usePageKeys(page, () => {
    isHelpOpen.value = true;
  });
  const target = { session, bucket, prefix };
  return (
    <DropArea target={target}>
      <div class="page files" ref={page}>
        <Head target={target} />
        <Tools
          target={target}
          folder={folder}
          onTag={(wanted) => {
            tag.value = wanted;
          }}
        />
        <Failure text={folder.failure.value} onRetry={() => void folder.loadMore()} />
        <FileGrid
          folder={folder}
          selection={selection}
          onDelete={() => {
            action.value = 'delete';
          }}
        />
        <FolderState folder={folder} tag={tag.value} />
        <SelectionBar
          action={action}
          target={target}
          folder={folder}
          selection={selection}
          entries={selectedOf(folder.entries.value, selection.paths.value)}
        />
      </div>
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
  onTag(tag: string | undefined): void;
}

function Tools({ target, folder, onTag }: ToolsProps) {
  return (
    <div class="tools">
      <UploadButtons target={target} />
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

function Head({ target }: { target: Target }) {
  const { session, bucket, prefix } = target;
  const isOpen = useSignal(false);
  const open = (next: boolean) => {
    isOpen.value = next;
  };
  return (
    <div class="files-head">
      <Breadcrumbs bucket={bucket} path={prefix} />
      <div class="buttons">
        {session.kind !== 'key' && (
          <button type="button" onClick={() => open(true)}>
            Receive files
          </button>
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

function FolderState({ folder, tag }: { folder: Folder; tag: string | undefined }) {
  const { length } = folder.entries.value;
  const isEmpty = length === 0 && folder.state.value === 'complete';
  const isSearch = folder.filter.value !== '' || tag !== undefined;
  return (
    <p class="state" role="status">
      {folder.state.value === 'loading' && 'Loading …'}
      {isEmpty && isSearch && 'Nothing matches the filter.'}
      {isEmpty &&
        !isSearch &&
        'Nothing here yet. Drop files or folders here, or choose some above.'}
      {length > 0 && folder.state.value === 'complete' && summaryOf(folder)}
      {length > 0 &&
        folder.state.value === 'more' &&
        `${counted(length, 'entry', 'entries')} so far`}
    </p>
  );
}

function summaryOf(folder: Folder): string {
  const entries = folder.entries.value;
  const folders = entries.filter(({ isFolder }) => isFolder).length;
  const files = counted(entries.length - folders, 'file');
  return folders === 0 ? files : `${counted(folders, 'folder')}, ${files}`;
}
