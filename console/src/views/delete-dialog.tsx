// The dialog that deletes entries. If the bucket keeps former versions, a notice offers Undo;
// otherwise the dialog warns that deletion is final.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { keepsVersions } from '../bucket-record.ts';
import { sentenceOf } from '../failures.ts';
import { removeEntries, restoreAll } from '../files/arrange.ts';
import type { Entry } from '../files/folder.ts';
import { texts } from '../language.ts';
import { tell } from '../notices.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { tellStored } from '../uploads/stored.ts';
import { nameOf, sizeOf } from '../words.ts';
import type { Target } from './drop-area.tsx';
import type { SelectionProps } from './selection-props.ts';

async function whatGoes({ session, bucket }: Target, entries: readonly Entry[]): Promise<string> {
  const totals = await Promise.all(
    entries.map(async ({ path, file }) =>
      file ? { files: 1, bytes: file.size } : session.storage.usage({ bucket, prefix: path }),
    ),
  );
  const files = totals.reduce((sum, total) => sum + total.files, 0);
  const bytes = totals.reduce((sum, total) => sum + total.bytes, 0);
  return texts().deletion.amount(files, sizeOf(bytes));
}

export function DeleteDialog(props: SelectionProps & { onClose(): void }) {
  const { target, folder, selection, entries, onClose } = props;
  const canUndo = useSignal<boolean | undefined>(undefined);
  const amount = useSignal('');
  useEffect(() => {
    void keepsVersions(target.session, target.bucket).then((keeps) => {
      canUndo.value = keeps;
    });
    whatGoes(target, entries).then(
      (words) => {
        amount.value = words;
      },
      () => {},
    );
  }, []);
  async function remove(): Promise<void> {
    const { storage } = target.session;
    const removed = await removeEntries({ storage, bucket: target.bucket }, entries);
    folder.drop(new Set(entries.map(({ path }) => path)));
    selection.clear();
    onClose();
    tellRemoved(target, removed, canUndo.value === true);
  }
  const { deletion: words } = texts();
  const [first, ...others] = entries;
  const name = first && others.length === 0 ? nameOf(first.path) : undefined;
  return (
    <ConfirmDialog
      title={words.title(name, entries.length)}
      label={words.delete}
      underWay={words.underWay}
      confirm={remove}
      onClose={onClose}
    >
      {words.question(name, entries.length, amount.value, target.bucket)}{' '}
      {canUndo.value === true ? words.canUndo : words.isFinal}
    </ConfirmDialog>
  );
}

function tellRemoved(target: Target, removed: readonly string[], canUndo: boolean): void {
  const { bucket, session } = target;
  const place = { storage: session.storage, bucket };
  const undo = async () => {
    try {
      const files = await restoreAll(place, removed);
      tellStored(bucket, files);
      tell(texts().deletion.undone(files.length));
    } catch (error) {
      tell(sentenceOf(error), { isFailure: true });
    }
  };
  const { deletion, page } = texts();
  tell(deletion.done(removed.length), {
    action: canUndo ? { label: page.undo, run: () => void undo() } : undefined,
  });
}
