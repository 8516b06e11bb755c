// Actions for the selected files: a bar that is shown while files are selected.

import { type Signal, useSignal } from '@preact/signals';
import { sentenceOf } from '../failures.ts';
import { downloadOne, downloadZip } from '../files/download.ts';
import { isSealed } from '../files/sealed.ts';
import { tell } from '../notices.ts';
import { deferred } from '../parts/deferred.tsx';
import { counted, nameOf } from '../words.ts';
import { DeleteDialog } from './delete-dialog.tsx';
import { MoveDialog } from './move-dialog.tsx';
import type { Action, SelectionProps } from './selection-props.ts';

const ShareDialog = deferred(async () => (await import('./share-dialog.tsx')).ShareDialog);

export function SelectionBar(props: SelectionProps & { action: Signal<Action | undefined> }) {
  const { entries, selection, action } = props;
  const close = () => {
    action.value = undefined;
  };
  if (entries.length === 0) return null;
  return (
    <section class="selection" aria-label="Selected files">
      <p role="status">
        {entries.length === 1 ? nameOf(entries[0]?.path ?? '') : `${entries.length} selected`}
      </p>
      <Buttons
        props={props}
        onAction={(next) => {
          action.value = next;
        }}
      />
      <button type="button" class="plain" onClick={selection.clear}>
        Clear
      </button>
      {action.value === 'delete' && <DeleteDialog {...props} onClose={close} />}
      {action.value === 'share' && (
        <ShareDialog
          target={props.target}
          path={entries[0]?.path ?? ''}
          isSealed={entries[0]?.file !== undefined && isSealed(entries[0].file)}
          onClose={close}
        />
      )}
      {(action.value === 'move' || action.value === 'copy' || action.value === 'rename') && (
        <MoveDialog {...props} kind={action.value} onClose={close} />
      )}
    </section>
  );
}

function Buttons(place: { props: SelectionProps; onAction(action: Action): void }) {
  const { props, onAction } = place;
  const [first, ...others] = props.entries;
  const isOne = others.length === 0;
  const isDownloading = useSignal(false);
  async function download(): Promise<void> {
    isDownloading.value = true;
    try {
      await downloadEntries(props);
    } catch (error) {
      // AbortError means that the user has closed the save dialog.
      if ((error as Error).name !== 'AbortError') tell(sentenceOf(error), { isFailure: true });
    } finally {
      isDownloading.value = false;
    }
  }
  return (
    <div class="buttons">
      <button type="button" disabled={isDownloading.value} onClick={() => void download()}>
        {isDownloading.value ? 'Preparing …' : 'Download'}
      </button>
      {isOne && !first?.isFolder && (
        <button type="button" onClick={() => onAction('share')}>
          Share
        </button>
      )}
      {isOne && (
        <button type="button" onClick={() => onAction('rename')}>
          Rename
        </button>
      )}
      <button type="button" onClick={() => onAction('move')}>
        Move
      </button>
      <button type="button" onClick={() => onAction('copy')}>
        Copy
      </button>
      <button type="button" class="danger" onClick={() => onAction('delete')}>
        Delete
      </button>
    </div>
  );
}

async function downloadEntries({ target, entries }: SelectionProps): Promise<void> {
  const { bucket, prefix, session } = target;
  const [first, ...others] = entries;
  if (first === undefined) return;
  if (others.length === 0 && first.file) return downloadOne(session, first.file);
  const name = others.length === 0 ? nameOf(first.path) : nameOf(prefix) || bucket;
  await downloadZip(target, entries, `${name}.zip`);
  tell(`${counted(entries.length, 'entry', 'entries')} downloaded as ${name}.zip.`);
}
