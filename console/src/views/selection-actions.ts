// The actions for the selected entries; the bar and the menu of a row offer the same.

import { type Signal, useSignal } from '@preact/signals';
import { sentenceOf } from '../failures.ts';
import { downloadOne, downloadZip, type ZipProgress } from '../files/download.ts';
import { texts } from '../language.ts';
import { tell } from '../notices.ts';
import { nameOf, sizeOf } from '../words.ts';
import type { Action, SelectionProps } from './selection-props.ts';

export interface OfferedAction {
  readonly label: string;
  readonly isDanger?: boolean;
  /** The action is in progress. */
  readonly isUnderWay?: boolean;
  run(): void;
}

/** Downloads and renames at once; each other action sets `action`, which opens its dialog. */
export function useActions(
  props: SelectionProps,
  action: Signal<Action | undefined>,
): readonly OfferedAction[] {
  const running = useSignal<Running | undefined>(undefined);
  async function download(): Promise<void> {
    const stop = new AbortController();
    running.value = { stop: undefined, progress: undefined };
    try {
      await downloadEntries(props, {
        signal: stop.signal,
        onProgress(progress) {
          running.value = { stop: () => stop.abort(), progress };
        },
      });
    } catch (error) {
      // AbortError means that the user has closed the save dialog or stopped the download.
      if ((error as Error).name !== 'AbortError') tell(sentenceOf(error), { isFailure: true });
    } finally {
      stop.abort();
      running.value = undefined;
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
  const { value: current } = running;
  const { selection: words } = texts();
  const rename = () => {
    if (first) props.selection.startRename(props.folder.entries.value, first.path);
  };
  return [
    {
      label: current ? progressWords(current.progress) : words.download,
      isUnderWay: current !== undefined,
      run: () => void download(),
    },
    ...(current?.stop ? [{ label: words.stop, run: current.stop }] : []),
    ...(isOne && !first?.isFolder ? [open(words.share, 'share')] : []),
    ...(isOne && props.mayWrite ? [{ label: words.rename, run: rename }] : []),
    ...(props.mayWrite
      ? [open(words.move, 'move'), open(words.copy, 'copy'), open(words.delete, 'delete', true)]
      : []),
  ];
}

/** A download in progress; only a zip, which this page builds, can be stopped. */
interface Running {
  readonly stop: (() => void) | undefined;
  readonly progress: ZipProgress | undefined;
}

function progressWords(progress: ZipProgress | undefined): string {
  const { selection, words } = texts();
  if (progress === undefined) return selection.preparing;
  const { bytes, bytesTotal } = progress;
  return bytesTotal === undefined ? sizeOf(bytes) : words.of(sizeOf(bytes), sizeOf(bytesTotal));
}

async function downloadEntries(
  { target, entries }: SelectionProps,
  options: { readonly signal: AbortSignal; onProgress(progress: ZipProgress): void },
): Promise<void> {
  const { bucket, prefix, session } = target;
  const [first, ...others] = entries;
  if (first === undefined) return;
  if (others.length === 0 && first.file) return downloadOne(session, first.file);
  const name = others.length === 0 ? nameOf(first.path) : nameOf(prefix) || bucket;
  await downloadZip({ source: target, entries, zipName: `${name}.zip`, ...options });
  tell(texts().selection.zipped(entries.length, `${name}.zip`));
}
