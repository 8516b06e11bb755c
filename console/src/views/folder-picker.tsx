// Chooses a bucket and a folder in it: lists the subfolders, and opens one at a time.

import type { Signal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Storage } from '../../../packages/client/src/storage.ts';
import { Folder } from '../files/folder.ts';
import { texts } from '../language.ts';
import { Failure } from '../parts/failure.tsx';
import { Icon } from '../parts/icon.tsx';
import { nameOf } from '../words.ts';
import { stepsOf } from './breadcrumbs.tsx';

export interface FolderPlace {
  readonly bucket: string;
  /** Ends in a slash; '' for the top. */
  readonly prefix: string;
}

interface PickerProps {
  readonly storage: Storage;
  readonly place: Signal<FolderPlace>;
  /** Names of the buckets to choose from. */
  readonly buckets: readonly string[];
  /** Whether the folder cannot be opened. */
  isClosed(folder: FolderPlace): boolean;
}

export function FolderPicker({ storage, place, buckets, isClosed }: PickerProps) {
  const { bucket, prefix } = place.value;
  const list = useRef<HTMLFieldSetElement>(null);
  const folder = useMemo(() => new Folder({ storage, bucket, prefix }), [storage, bucket, prefix]);
  useLayoutEffect(() => {
    void folder.loadMore();
    return () => folder.close();
  }, [folder]);
  const { moving: words } = texts();
  const open = (next: FolderPlace) => {
    place.value = next;
    // The opened folder's button is gone. A screen reader announces the new folder.
    list.current?.focus();
  };
  return (
    <div class="picker">
      {buckets.length > 1 && (
        <label>
          {words.bucket}
          <select
            value={bucket}
            onChange={({ currentTarget }) => {
              place.value = { bucket: currentTarget.value, prefix: '' };
            }}
          >
            {buckets.map((id) => (
              <option key={id} value={id}>
                {id}
              </option>
            ))}
          </select>
        </label>
      )}
      <Steps place={place.value} onOpen={open} />
      <fieldset
        ref={list}
        tabIndex={-1}
        data-first
        aria-label={words.foldersIn(nameOf(prefix) || bucket)}
        onKeyDown={moveFocus}
      >
        {foldersOf(folder).map(({ path }) => (
          <button
            key={path}
            type="button"
            class="plain"
            disabled={isClosed({ bucket, prefix: path })}
            onClick={() => open({ bucket, prefix: path })}
          >
            <Icon name="folder" />
            <span class="name" dir="auto">
              {nameOf(path)}
            </span>
          </button>
        ))}
        <PickerState folder={folder} />
      </fieldset>
    </div>
  );
}

function foldersOf(folder: Folder) {
  return folder.entries.value.filter(({ isFolder }) => isFolder);
}

function Steps({ place, onOpen }: { place: FolderPlace; onOpen(next: FolderPlace): void }) {
  const { bucket } = place;
  const steps = stepsOf(bucket, place.prefix);
  return (
    <nav aria-label={texts().moving.chosen} class="crumbs">
      <ol>
        {steps.slice(0, -1).map(({ name, prefix }) => (
          <li key={prefix}>
            <button type="button" class="plain" onClick={() => onOpen({ bucket, prefix })}>
              <bdi>{name}</bdi>
            </button>
          </li>
        ))}
        <li>
          <strong aria-current="location">
            <bdi>{steps.at(-1)?.name}</bdi>
          </strong>
        </li>
      </ol>
    </nav>
  );
}

/** The service lists files and folders together, so a page of the list may have no folder. */
function PickerState({ folder }: { folder: Folder }) {
  const isLoading = folder.state.value === 'loading';
  const isMore = folder.state.value === 'more' && folder.failure.value === undefined;
  const isEmpty = foldersOf(folder).length === 0 && folder.failure.value === undefined;
  const { moving: words, page } = texts();
  const none = isMore ? words.noFoldersYet(folder.entries.value.length) : words.noFolders;
  return (
    <>
      <p role="status">{isLoading ? page.loading : isEmpty && none}</p>
      {isMore && (
        <button type="button" onClick={() => void folder.loadMore()}>
          {words.moreFolders}
        </button>
      )}
      <Failure text={folder.failure.value} onRetry={() => void folder.loadMore()} />
    </>
  );
}

/** Moves the focus through the folders by the arrow keys. */
function moveFocus(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const list = event.currentTarget as HTMLElement;
  const buttons = [...list.querySelectorAll<HTMLButtonElement>('button:not(:disabled)')];
  const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
  buttons[Math.max(0, Math.min(buttons.length - 1, at + step))]?.focus();
}
