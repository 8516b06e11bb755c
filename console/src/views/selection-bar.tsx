// What can be done with the selected files: a bar that is there while some are.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { sentenceOf } from '../failures.ts';
import { downloadOne, downloadZip } from '../files/download.ts';
import { tell } from '../notices.ts';
import { counted, nameOf } from '../words.ts';
import { DeleteDialog } from './delete-dialog.tsx';
import { MoveDialog } from './move-dialog.tsx';
import type { SelectionProps } from './selection-props.ts';
import { ShareDialog } from './share-dialog.tsx';

type Action = 'share' | 'rename' | 'move' | 'copy' | 'delete';

export function SelectionBar(props: SelectionProps) {
  const { entries, selection } = props;
  const action = useSignal<Action | undefined>(undefined);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isOver = document.querySelector('dialog[open]') !== null;
      const isTyping = (event.target as HTMLElement).matches('input:not([type=checkbox])');
      if (event.key !== 'Delete' || isOver || isTyping || entries.length === 0) return;
      action.value = 'delete';
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [entries.length]);
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
        <ShareDialog target={props.target} path={entries[0]?.path ?? ''} onClose={close} />
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
      // The window in which a place is chosen was closed.
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
  const place = { storage: session.storage, bucket };
  const [first, ...others] = entries;
  if (first === undefined) return;
  if (others.length === 0 && !first.isFolder) return downloadOne(place, first.path);
  const name = others.length === 0 ? nameOf(first.path) : nameOf(prefix) || bucket;
  await downloadZip(place, entries, `${name}.zip`);
  tell(`${counted(entries.length, 'entry', 'entries')} downloaded as ${name}.zip.`);
}
