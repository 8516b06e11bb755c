// The list of a folder, for mouse, touch and keyboard. It is a WAI-ARIA grid: one row has the
// focus, and arrow keys move it. It uses no table element, because invisible rows are not rendered.

import { useEffect, useRef } from 'preact/hooks';
import { type Entry, type Folder, isSearch, type Sort, type SortField } from '../files/folder.ts';
import { isHeld } from '../files/held.ts';
import { arePicturesShown } from '../files/pictures.ts';
import type { Selection } from '../files/selection.ts';
import { isRightToLeft, texts } from '../language.ts';
import { deferred } from '../parts/deferred.tsx';
import { Icon, type IconName } from '../parts/icon.tsx';
import { WindowList } from '../parts/window-list.tsx';
import { addressOf, go, type Route } from '../route.ts';
import { momentOf, nameOf, sizeOf, whenOf } from '../words.ts';
import { dragSource, dropTarget, isHovered, type MoveInto } from './drag.ts';
import type { MenuPlace } from './selection-props.ts';
import { Thumbnail } from './thumbnail.tsx';

const RenameField = deferred(async () => (await import('./rename-field.tsx')).RenameField);

const rowHeight = 52;
const pictureRowHeight = 84;

interface GridProps {
  readonly folder: Folder;
  readonly selection: Selection;
}

interface FileGridProps extends GridProps {
  readonly mayWrite: boolean;
  /** The user dropped rows on a folder. */
  readonly onMove: MoveInto;
  onDelete(): void;
  /** The user asked for the menu of the selected rows. */
  onMenu(place: MenuPlace): void;
}

export function FileGrid(props: FileGridProps) {
  const { folder, selection } = props;
  const entries = folder.entries.value;
  const { value: hasPictures } = arePicturesShown;
  const active = Math.max(0, Math.min(selection.active.value, entries.length - 1));
  const { value: renamed } = selection.renamed;
  const { grid, isKeyed } = useRowFocus(active, renamed);
  const press = (event: KeyboardEvent) => {
    const isRow = (event.target as HTMLElement).getAttribute('role') === 'row';
    // In a row, Space toggles its checkbox and Enter follows its link, as usual.
    if (!isRow && (event.key === ' ' || event.key === 'Enter')) return;
    if (event.key === 'F2') return startRename(props, active);
    if (!handleKey(event, { ...props, entries, active })) return;
    isKeyed.current = true;
    event.preventDefault();
  };
  return (
    <div
      class={hasPictures ? 'grid pictures' : 'grid'}
      role="grid"
      aria-label={texts().grid.label}
      aria-rowcount={entries.length + 1}
      aria-multiselectable="true"
      ref={grid}
      onKeyDown={press}
    >
      <HeadRow folder={folder} selection={selection} />
      <WindowList
        // A new order or row height resets the scroll position.
        key={JSON.stringify([folder.sort.value, hasPictures])}
        count={entries.length}
        rowHeight={hasPictures ? pictureRowHeight : rowHeight}
        active={active}
        reveal={renamed}
        onNearEnd={() =>
          folder.state.value === 'more' && !folder.failure.value && void folder.loadMore()
        }
        row={(index) => {
          const entry = entries[index];
          return (
            entry && (
              <Row
                key={entry.path}
                entry={entry}
                index={index}
                isActive={index === active}
                isSelected={selection.paths.value.has(entry.path)}
                isRenamed={entry.path === renamed}
                folder={folder}
                selection={selection}
                onMove={props.onMove}
                onRenamed={(path) => {
                  isKeyed.current = true;
                  leaveRename(props, path);
                }}
                onRange={() => selection.extendFromAnchor(entries, index)}
                onMenu={props.onMenu}
              />
            )
          );
        }}
      />
    </div>
  );
}

function useRowFocus(active: number, renamed: string | undefined) {
  const grid = useRef<HTMLDivElement>(null);
  /** Whether the keyboard chose the active row, which then takes the focus when it is rendered. */
  const isKeyed = useRef(false);
  useEffect(() => {
    if (!isKeyed.current) return;
    isKeyed.current = false;
    grid.current?.querySelector<HTMLElement>('[role=row][tabindex="0"]')?.focus();
  }, [active, renamed]);
  return { grid, isKeyed };
}

/** Edits the name of the selected entry, or of the active one if none is selected. */
function startRename({ folder, selection, mayWrite }: FileGridProps, active: number): void {
  const entries = folder.entries.value;
  const [path = entries[active]?.path, ...others] = selection.paths.value;
  if (mayWrite && path !== undefined && others.length === 0) selection.startRename(entries, path);
}

function leaveRename({ folder, selection }: GridProps, path: string): void {
  const at = folder.entries.value.findIndex((entry) => entry.path === path);
  if (at !== -1) selection.active.value = at;
  selection.renamed.value = undefined;
}

interface KeyPlace extends GridProps {
  onDelete(): void;
  readonly entries: readonly Entry[];
  readonly active: number;
}

/** Returns true if the key was handled. */
function handleKey(event: KeyboardEvent, place: KeyPlace): boolean {
  const { selection, entries, active, folder } = place;
  const entry = entries[active];
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: 10,
    PageUp: -10,
    Home: -entries.length,
    End: entries.length,
  };
  const step = steps[event.key];
  if (step !== undefined) {
    const to = Math.max(0, Math.min(entries.length - 1, active + step));
    if (event.shiftKey) selection.extendTo(entries, to);
    selection.active.value = to;
  } else if (event.key === ' ' && entry) selection.toggle(entry.path);
  else if (event.key === 'Enter' && entry) go(routeOfEntry(folder.place.bucket, entry));
  else if (event.key === 'Delete' && selection.paths.value.size > 0) place.onDelete();
  else if (event.key === 'Escape') selection.clear();
  else if (event.key === 'a' && (event.ctrlKey || event.metaKey)) selection.setAll(entries);
  else return false;
  return true;
}

function routeOfEntry(bucket: string, { path, isFolder }: Entry): Route {
  return isFolder ? { view: 'files', bucket, prefix: path } : { view: 'file', bucket, path };
}

function HeadRow({ folder, selection }: GridProps) {
  const entries = folder.entries.value;
  const { grid: words } = texts();
  const { size } = selection.paths.value;
  const isAll = entries.length > 0 && size === entries.length;
  return (
    <div class="row head" role="row" aria-rowindex={1}>
      <div role="columnheader" class="cell-check">
        <label class="tick">
          <input
            type="checkbox"
            aria-label={words.selectAll}
            checked={isAll}
            indeterminate={size > 0 && !isAll}
            onChange={() => (isAll ? selection.clear() : selection.setAll(entries))}
          />
        </label>
      </div>
      <SortHead folder={folder} selection={selection} field="name" label={words.name} />
      <SortHead folder={folder} selection={selection} field="size" label={words.size} />
      <SortHead folder={folder} selection={selection} field="date" label={words.changed} />
      <div role="gridcell" />
    </div>
  );
}

function SortHead(props: GridProps & { field: SortField; label: string }) {
  const { folder, selection, field, label } = props;
  const sortBy = (next: Sort) => {
    selection.active.value = 0;
    folder.setSort(next);
  };
  const { value: sort } = folder.sort;
  const isOwn = sort.field === field;
  const order = sort.isDescending ? 'descending' : 'ascending';
  // Sizes and dates begin with the largest and the newest.
  const next: Sort = { field, isDescending: isOwn ? !sort.isDescending : field !== 'name' };
  return (
    <div role="columnheader" class={`cell-${field}`} aria-sort={isOwn ? order : 'none'}>
      <button type="button" class="plain" onClick={() => sortBy(next)}>
        {label}
        <span aria-hidden="true">{isOwn && (sort.isDescending ? ' ↓' : ' ↑')}</span>
      </button>
    </div>
  );
}

interface RowProps {
  readonly entry: Entry;
  readonly index: number;
  readonly isActive: boolean;
  readonly isSelected: boolean;
  /** The name is a field. */
  readonly isRenamed: boolean;
  readonly folder: Folder;
  readonly selection: Selection;
  readonly onMove: MoveInto;
  /** The user left the field; receives the path of the entry. */
  onRenamed(path: string): void;
  /** Selects up to this row. */
  onRange(): void;
  onMenu(place: MenuPlace): void;
}

/** A click opens the entry; with Shift it selects a range, with Ctrl or Command one more entry. */
function click(event: MouseEvent, { entry, folder, selection, onRange }: RowProps): void {
  const isOnLink = (event.target as HTMLElement).closest('a') !== null;
  const isOnControl = (event.target as HTMLElement).closest('label, button') !== null;
  if (event.shiftKey) onRange();
  else if (isOnLink || isOnControl || getSelection()?.isCollapsed === false) return;
  else if (event.ctrlKey || event.metaKey) selection.toggle(entry.path);
  else go(routeOfEntry(folder.place.bucket, entry));
  event.preventDefault();
}

function openMenu(event: MouseEvent, { entry, isSelected, selection, onMenu }: RowProps): void {
  event.preventDefault();
  if (!isSelected) selection.only(entry.path);
  // The menu key names no point.
  const { left, right, bottom } = (event.currentTarget as HTMLElement).getBoundingClientRect();
  const start = isRightToLeft() ? right : left;
  const hasPoint = event.clientX > 0 || event.clientY > 0;
  onMenu(hasPoint ? { left: event.clientX, top: event.clientY } : { left: start, top: bottom });
}

/** Returns the name, or in a search the path below the folder that was searched. */
function shownName(place: Folder['place'], path: string): string {
  return isSearch(place) ? path.slice(place.prefix.length) : nameOf(path);
}

function Row(props: RowProps) {
  const { entry, index, isActive, isSelected, isRenamed, folder, selection, onMove } = props;
  const { path, file, isFolder } = entry;
  const { grid: words } = texts();
  const name = shownName(folder.place, path);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid handles the keys of all rows.
    <div
      class={`row${isSelected ? ' selected' : ''}${isHovered(path) ? ' over' : ''}`}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      tabIndex={isActive ? 0 : -1}
      onFocus={() => {
        selection.active.value = index;
      }}
      // Shift would select text.
      onMouseDown={(event) => event.shiftKey && event.preventDefault()}
      onClick={(event) => click(event, props)}
      onContextMenu={(event) => openMenu(event, props)}
      {...(onMove && !isRenamed && dragSource(entry, folder, selection))}
      {...(isFolder && dropTarget(path, onMove))}
    >
      <div role="gridcell" class="cell-check">
        <label class="tick">
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label={words.select(name)}
            checked={isSelected}
            onChange={() => selection.toggle(path)}
          />
        </label>
      </div>
      <div role="gridcell" class="cell-name">
        {isRenamed ? (
          <RenameField {...{ entry, folder, selection }} onClose={props.onRenamed} />
        ) : (
          <NameLink entry={entry} place={folder.place} />
        )}
      </div>
      <div role="gridcell" class="cell-size">
        <bdi>{file ? sizeOf(file.size) : words.folder}</bdi>
      </div>
      <div role="gridcell" class="cell-date" title={file && momentOf(file.updatedAt)}>
        {file && <ChangedOrNote file={file} />}
      </div>
      <div role="gridcell">
        <button
          type="button"
          class="plain"
          tabIndex={-1}
          aria-label={words.actionsFor(name)}
          onClick={(event) => openMenu(event, props)}
        >
          <Icon name="more" />
        </button>
      </div>
    </div>
  );
}

function NameLink({ entry, place }: { entry: Entry; place: Folder['place'] }) {
  const { path, file } = entry;
  const { isProtected } = texts().grid;
  return (
    // The row is dragged, not the address.
    <a tabIndex={-1} draggable={false} href={addressOf(routeOfEntry(place.bucket, entry))}>
      <Thumbnail storage={place.storage} file={file} icon={iconOf(entry)} />
      <span class="name" dir="auto">
        {shownName(place, path)}
      </span>
      {isHeld(file?.retention) && (
        <span class="held" role="img" aria-label={isProtected} title={isProtected}>
          <Icon name="lock" />
        </span>
      )}
      {file?.afterSharing && <small class="wide-only">{texts().folderLink.afterSharing}</small>}
    </a>
  );
}

/** On a phone, the note takes the place of the date below the name. */
function ChangedOrNote({ file }: { file: NonNullable<Entry['file']> }) {
  const when = whenOf(file.updatedAt);
  if (!file.afterSharing) return when;
  return (
    <>
      <span class="wide-only">{when}</span>
      <span class="narrow-only">{texts().folderLink.afterSharing}</span>
    </>
  );
}

function iconOf({ file }: Entry): IconName {
  if (file === undefined) return 'folder';
  const [, kind = ''] = /^(image|video|audio)\//.exec(file.contentType) ?? [];
  return kind === '' ? 'file' : (kind as IconName);
}
