// The filter and the search: a part of a name filters the folder while it is typed; a search finds
// all files below the folder or in the bucket by a part of their names, or by #tag.

import type { Signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Folder } from '../files/folder.ts';
import { texts } from '../language.ts';

/** A folder to search below, and the wanted name or tag. */
export interface Search {
  readonly prefix: string;
  readonly name?: string;
  readonly tag?: string;
}

/** Returns undefined for an empty text. */
export function searchOf(text: string, prefix: string): Search | undefined {
  const wanted = text.trim();
  const tag = /^#\s*(.+)$/s.exec(wanted)?.[1];
  if (tag !== undefined) return { prefix, tag };
  return wanted === '' ? undefined : { prefix, name: wanted };
}

/** Whether the search is that of the text. */
export function isSearched(text: string, search: Search | undefined): boolean {
  const wanted = searchOf(text, '');
  return wanted?.name === search?.name && wanted?.tag === search?.tag;
}

/** The scopes hide without the focus, which some browsers take away before the click. */
const keepFocus = (event: MouseEvent) => event.preventDefault();

interface FilterBoxProps {
  readonly folder: Folder;
  /** The folder in which the search begins. */
  readonly prefix: string;
  readonly text: Signal<string>;
  readonly search: Signal<Search | undefined>;
}

export function FilterBox({ folder, prefix, text, search }: FilterBoxProps) {
  const { files: words } = texts();
  const input = useRef<HTMLInputElement>(null);
  const isNew = text.value.trim() !== '' && !isSearched(text.value, search.value);
  const start = (from: string) => {
    search.value = searchOf(text.value, from);
    input.current?.focus();
  };
  return (
    <search>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          start(prefix);
        }}
      >
        <input
          ref={input}
          type="search"
          aria-label={words.filter}
          placeholder={words.search}
          dir="auto"
          autocapitalize="off"
          spellcheck={false}
          value={text.value}
          onInput={({ currentTarget: { value } }) => {
            text.value = value;
            if (value === '') search.value = undefined;
            if (!value.startsWith('#')) folder.setFilter(value);
          }}
        />
        {isNew && (
          <div class="scopes">
            <button type="submit" onMouseDown={keepFocus}>
              {prefix === '' ? words.searchBucket : words.searchFolder}
            </button>
            {prefix !== '' && (
              <button type="button" onMouseDown={keepFocus} onClick={() => start('')}>
                {words.searchBucket}
              </button>
            )}
          </div>
        )}
      </form>
    </search>
  );
}
