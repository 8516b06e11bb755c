// The filter and the search: a part of a name filters the folder while it is typed; a search finds
// all files below the folder or in the bucket by a part of their names, or by #tag.

import { useSignal } from '@preact/signals';
import type { Folder } from '../files/folder.ts';
import { texts } from '../language.ts';

/** A folder to search below, and the wanted name or tag. */
export interface Search {
  readonly prefix: string;
  readonly name?: string;
  readonly tag?: string;
}

interface FilterBoxProps {
  readonly folder: Folder;
  /** The folder in which the search begins. */
  readonly prefix: string;
  onSearch(search: Search | undefined): void;
}

export function FilterBox({ folder, prefix, onSearch }: FilterBoxProps) {
  const { files: words } = texts();
  const text = useSignal('');
  const search = (from: string) => {
    const wanted = text.value.trim();
    const tag = /^#\s*(.+)$/s.exec(wanted)?.[1];
    if (tag !== undefined) onSearch({ prefix: from, tag });
    else onSearch(wanted === '' ? undefined : { prefix: from, name: wanted });
  };
  return (
    <search>
      <form
        class="filter"
        onSubmit={(event) => {
          event.preventDefault();
          search(prefix);
        }}
      >
        <input
          type="search"
          aria-label={words.filter}
          placeholder={words.search}
          dir="auto"
          autocapitalize="off"
          spellcheck={false}
          value={text.value}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value;
            if (text.value === '') onSearch(undefined);
            if (!text.value.startsWith('#')) folder.setFilter(text.value);
          }}
        />
        {text.value.trim() !== '' && (
          <>
            <button type="submit">{prefix === '' ? words.searchBucket : words.searchFolder}</button>
            {prefix !== '' && (
              <button type="button" onClick={() => search('')}>
                {words.searchBucket}
              </button>
            )}
          </>
        )}
      </form>
    </search>
  );
}
