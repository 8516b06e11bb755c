// The filter: a part of a name, or #tag, which finds all files with the tag below the folder.

import { useSignal } from '@preact/signals';
import type { Folder } from '../files/folder.ts';

export function FilterBox(props: { folder: Folder; onTag(tag: string | undefined): void }) {
  const { folder, onTag } = props;
  const text = useSignal(folder.place.tag === undefined ? '' : `#${folder.place.tag}`);
  /** Starts the search for the typed tag; without a tag, ends the search. */
  const submit = (event?: Event) => {
    event?.preventDefault();
    const isTag = text.value.startsWith('#') && text.value.length > 1;
    onTag(isTag ? text.value.slice(1).trim() : undefined);
  };
  return (
    <search>
      <form class="filter" onSubmit={submit}>
        <input
          type="search"
          aria-label="Filter by name, or by #tag"
          placeholder="Filter, or #tag"
          autocapitalize="off"
          spellcheck={false}
          value={text.value}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value;
            if (text.value === '') submit();
            if (!text.value.startsWith('#')) folder.setFilter(text.value);
          }}
        />
      </form>
    </search>
  );
}
