// The dialog that renames, moves or copies entries.

import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { sentenceOf } from '../failures.ts';
import { type Arrangement, copyEntries, moveEntries } from '../files/arrange.ts';
import type { Entry } from '../files/folder.ts';
import { tell } from '../notices.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Failure } from '../parts/failure.tsx';
import { Field } from '../parts/field.tsx';
import { useTask } from '../parts/task.ts';
import { nextName } from '../uploads/item.ts';
import { tellStored } from '../uploads/stored.ts';
import { counted, folderOf, nameOf } from '../words.ts';
import type { SelectionProps } from './selection-props.ts';

type Kind = 'rename' | 'move' | 'copy';

const titles = { rename: 'Rename', move: 'Move', copy: 'Copy' } as const;
const underWay = { rename: 'Renaming …', move: 'Moving …', copy: 'Copying …' } as const;

/** Returns the typed folder without leading slashes and with a slash at the end; '' for the top. */
function folderText(text: string): string {
  const name = text.trim().replace(/^\/+/, '');
  return name === '' || name.endsWith('/') ? name : `${name}/`;
}

function targetsOf(kind: Kind, text: string): TargetOf {
  if (kind === 'rename') {
    return ({ path, isFolder }) => folderOf(path) + text.trim() + (isFolder ? '/' : '');
  }
  const folder = folderText(text);
  return ({ path, isFolder }) => {
    const target = folder + nameOf(path) + (isFolder ? '/' : '');
    // A copy in its source's folder needs another name.
    if (kind !== 'copy' || target !== path) return target;
    return isFolder ? `${nextName(path.slice(0, -1))}/` : nextName(path);
  };
}

type TargetOf = (entry: Entry) => string;

/** Moves each entry back from its target. */
async function undoMove({ target, entries, folder }: SelectionProps, targetOf: TargetOf) {
  const { bucket, session } = target;
  const place = { storage: session.storage, bucket, begun: new Set<string>() };
  const sources = new Map(entries.map((entry) => [targetOf(entry), entry.path]));
  const moved = entries
    .filter((entry) => targetOf(entry) !== entry.path)
    .map((entry): Entry => ({ ...entry, path: targetOf(entry) }));
  try {
    const done = await moveEntries(place, moved, ({ path }) => sources.get(path) ?? path);
    tellStored(bucket, done.files);
    folder.drop(new Set(done.gone));
    if (moved.some(({ isFolder }) => isFolder)) folder.reload();
    tell(`${counted(done.gone.length, 'entry', 'entries')} moved back.`);
  } catch (error) {
    tell(sentenceOf(error), { isFailure: true });
  }
}

export function MoveDialog(props: SelectionProps & { kind: Kind; onClose(): void }) {
  const { kind, target, entries, folder, selection, onClose } = props;
  const { bucket, prefix, session } = target;
  const text = useSignal(kind === 'rename' ? nameOf(entries[0]?.path ?? '') : prefix);
  const { isUnderWay, failure, run } = useTask();
  const { current: begun } = useRef(new Set<string>());
  const submit = (event: Event) => {
    event.preventDefault();
    void run(async () => {
      const place = { storage: session.storage, bucket, begun };
      const arrange = kind === 'copy' ? copyEntries : moveEntries;
      const targetOf = targetsOf(kind, text.value);
      const done: Arrangement = await arrange(place, entries, targetOf);
      folder.drop(new Set(done.gone));
      tellStored(bucket, done.files);
      // Responses do not describe moved folders.
      if (entries.some(({ isFolder }) => isFolder)) folder.reload();
      selection.clear();
      onClose();
      const verb = { rename: 'renamed', move: 'moved', copy: 'copied' }[kind];
      const count = kind === 'copy' ? entries.length : done.gone.length;
      const undo =
        kind === 'copy' || count === 0 ? undefined : () => void undoMove(props, targetOf);
      tell(`${counted(count, 'entry', 'entries')} ${verb}.`, {
        action: undo && { label: 'Undo', run: undo },
      });
    });
  };
  return (
    <Dialog title={titles[kind]} onClose={onClose}>
      <form onSubmit={submit}>
        <Field
          label={kind === 'rename' ? 'New name' : 'Folder'}
          value={text}
          isFirst
          isRequired={kind === 'rename'}
          {...(kind !== 'rename' && {
            hint: 'For example 2026/summer. A missing folder is created. Leave empty for the top.',
          })}
        />
        <Failure text={failure.value} />
        <div class="buttons">
          <button type="submit" class="main" disabled={isUnderWay.value}>
            {isUnderWay.value ? underWay[kind] : titles[kind]}
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}
