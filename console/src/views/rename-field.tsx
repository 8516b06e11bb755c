// The field in a row that renames its entry: Enter saves, Escape leaves the name as it is.

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { newArrangement, renamedPath } from '../files/arrange.ts';
import type { Entry, Folder } from '../files/folder.ts';
import type { Selection } from '../files/selection.ts';
import { texts } from '../language.ts';
import { Failure } from '../parts/failure.tsx';
import { useTask } from '../parts/task.ts';
import { nameOf } from '../words.ts';
import { arrangeEntries } from './move-entries.ts';

interface RenameProps {
  readonly entry: Entry;
  readonly folder: Folder;
  readonly selection: Selection;
  /** Receives the path under which the entry is listed now. */
  onClose(path: string): void;
}

/** Length of a name without the extension, which usually stays. */
function stemLength({ path, isFolder }: Entry): number {
  const name = nameOf(path);
  const end = isFolder ? -1 : name.lastIndexOf('.');
  return end > 0 ? end : name.length;
}

export function RenameField({ entry, folder, selection, onClose }: RenameProps) {
  const name = nameOf(entry.path);
  const text = useSignal(name);
  const input = useRef<HTMLInputElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const { isUnderWay, failure, run } = useTask();
  const { current: done } = useRef(newArrangement());
  useEffect(() => {
    input.current?.focus();
    input.current?.setSelectionRange(0, stemLength(entry));
  }, []);
  useEffect(() => {
    // The failure is below the row, which may be the last visible one.
    form.current?.lastElementChild?.scrollIntoView({ block: 'nearest' });
  }, [failure.value]);
  const submit = (event: Event) => {
    event.preventDefault();
    void run(async () => {
      const path = renamedPath(entry, text.value);
      const { bucket: toBucket, prefix } = folder.place;
      const order = { toBucket, prefix, targetOf: () => path, done };
      if (path !== entry.path)
        await arrangeEntries({ folder, selection, entries: [entry] }, { kind: 'rename', ...order });
      onClose(path);
    });
  };
  const press = (event: KeyboardEvent) => {
    // The keys of the list do not apply in the field.
    event.stopPropagation();
    if (event.key === 'Escape') onClose(entry.path);
  };
  const stop = (event: Event) => event.stopPropagation();
  return (
    <form
      ref={form}
      class="rename"
      onSubmit={submit}
      onKeyDown={press}
      onClick={stop}
      onMouseDown={stop}
      onContextMenu={stop}
    >
      <input
        ref={input}
        type="text"
        aria-label={texts().grid.newName(name)}
        aria-invalid={failure.value !== undefined}
        autocomplete="off"
        dir="auto"
        autocapitalize="off"
        spellcheck={false}
        readOnly={isUnderWay.value}
        value={text.value}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
        }}
      />
      <Failure text={failure.value} />
    </form>
  );
}
