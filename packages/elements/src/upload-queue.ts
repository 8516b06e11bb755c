// The files of an upload element, in order, and the few of them that are being sent.

import type { ChosenFile } from '../../client/src/bytes/dropped-files.ts';
import { isStorageError, StorageError } from '../../client/src/storage-error.ts';
import { PartLength } from './part-length.ts';
import { discardUpload, type Sending, sendFile } from './send-file.ts';

/** Parts of one file are sent one after the other; several files use a fast line. */
const atOnceMax = 3;

export type UploadState = 'waiting' | 'sending' | 'offline' | 'done' | 'failed' | 'cancelled';

/** A chosen file, as `files` of the element and the details of its events contain it. */
export interface UploadItem {
  readonly file: File;
  /** Name of the stored file. */
  readonly name: string;
  readonly state: UploadState;
  readonly sentBytes: number;
  /** Address of the stored file, if the upload link says it or the service's answer was read. */
  readonly address?: string | undefined;
  /** Why the upload failed. */
  readonly error?: { readonly code: string; readonly message: string } | undefined;
  /** Whether the same file may be sent again. */
  readonly isRetryable?: boolean | undefined;
}

type Changing = { -readonly [Name in keyof UploadItem]: UploadItem[Name] };

interface Entry {
  readonly item: Changing;
  readonly sending: Sending | undefined;
  controller: AbortController;
}

export type UploadChange = 'added' | 'progress' | 'state' | 'removed';

export class UploadQueue {
  readonly #entries = new Map<UploadItem, Entry>();
  readonly #partLength = new PartLength();
  readonly #onChange: (item: UploadItem, change: UploadChange) => void;

  constructor(onChange: (item: UploadItem, change: UploadChange) => void) {
    this.#onChange = onChange;
  }

  get items(): readonly UploadItem[] {
    return [...this.#entries.keys()];
  }

  add(sending: Sending): void {
    const { file, name } = sending;
    this.#put({ file, name, state: 'waiting', sentBytes: 0 }, sending);
  }

  /** Shows a file that is not sent, with the reason. */
  refuse({ file, path }: ChosenFile, error: NonNullable<UploadItem['error']>): void {
    this.#put({ file, name: path, state: 'failed', sentBytes: 0, error }, undefined);
  }

  #put(item: Changing, sending: Sending | undefined): void {
    this.#entries.set(item, { item, sending, controller: new AbortController() });
    this.#onChange(item, 'added');
    if (sending === undefined) this.#onChange(item, 'state');
    else this.#work();
  }

  retry(item: UploadItem): void {
    const entry = this.#entries.get(item);
    if (entry === undefined || item.state !== 'failed' || !item.isRetryable) return;
    entry.controller = new AbortController();
    this.#change(entry, { state: 'waiting', error: undefined });
    this.#work();
  }

  /** Ends the upload, and frees its bytes at the service. A stored file stays. */
  cancel(item: UploadItem): void {
    const entry = this.#entries.get(item);
    if (entry === undefined) return;
    entry.controller.abort();
    if (item.state !== 'done') {
      this.#change(entry, { state: 'cancelled' });
      if (entry.sending) void discardUpload(entry.sending);
    }
    this.#entries.delete(item);
    this.#onChange(item, 'removed');
    this.#work();
  }

  #change(entry: Entry, fields: Partial<Changing>, change: UploadChange = 'state'): void {
    Object.assign(entry.item, fields);
    if (this.#entries.has(entry.item)) this.#onChange(entry.item, change);
  }

  #work(): void {
    const entries = [...this.#entries.values()];
    const isRunning = ({ item }: Entry) => item.state === 'sending' || item.state === 'offline';
    const free = atOnceMax - entries.filter(isRunning).length;
    const next = entries.filter(({ item }) => item.state === 'waiting').slice(0, free);
    for (const entry of next) void this.#send(entry);
  }

  async #send(entry: Entry): Promise<void> {
    const { item, sending, controller } = entry;
    const { signal } = controller;
    if (sending === undefined) return;
    this.#change(entry, { state: 'sending' });
    try {
      const address = await sendFile(sending, {
        signal,
        partLength: this.#partLength,
        onSent: (sentBytes) => {
          if (!signal.aborted) this.#change(entry, { sentBytes }, 'progress');
        },
        onOffline: (isOffline) => {
          if (!signal.aborted) this.#change(entry, { state: isOffline ? 'offline' : 'sending' });
        },
      });
      if (signal.aborted) return;
      this.#change(entry, { state: 'done', sentBytes: item.file.size, address });
    } catch (error) {
      if (signal.aborted) return;
      this.#change(entry, { state: 'failed', ...failure(error) });
    }
    this.#work();
  }
}

function failure(error: unknown): Pick<UploadItem, 'error' | 'isRetryable'> {
  const known = isStorageError(error) ? error : new StorageError('Failed', String(error));
  const { code, message, status } = known;
  // The rights, the name and the limits stay as they are; everything else may pass.
  const isRetryable = ![400, 401, 403, 412, 413].includes(status ?? 0);
  return { error: { code, message }, isRetryable };
}
