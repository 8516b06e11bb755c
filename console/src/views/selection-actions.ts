// The actions for the selected entries; the bar and the menu of a row offer the same.

import { type Signal, useSignal } from '@preact/signals';
import { sentenceOf } from '../failures.ts';
import { downloadOne, downloadZip } from '../files/download.ts';
import { tell } from '../notices.ts';
import { counted, nameOf } from '../words.ts';
import type { Action, SelectionProps } from './selection-props.ts';

export interface OfferedAction {
  readonly label: string;
  readonly isDanger?: boolean;
  /** The action is in progress. */
  readonly isUnderWay?: boolean;
  run(): void;
}

/** Downloads at once; each other action sets `action`, which opens its dialog. */
export function useActions(
  props: SelectionProps,
  action: Signal<Action | undefined>,
): readonly OfferedAction[] {
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
  const [first, ...others] = props.entries;
  const isOne = others.length === 0;
  const open = (label: string, next: Action, isDanger = false) => ({
    label,
    isDanger,
    run() {
      action.value = next;
    },
  });
  const { value: isUnderWay } = isDownloading;
  const label = isUnderWay ? 'Preparing …' : 'Download';
  return [
    { label, isUnderWay, run: () => void download() },
    ...(isOne && !first?.isFolder ? [open('Share', 'share')] : []),
    ...(isOne && props.mayWrite ? [open('Rename', 'rename')] : []),
    ...(props.mayWrite
      ? [open('Move', 'move'), open('Copy', 'copy'), open('Delete', 'delete', true)]
      : []),
  ];
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
