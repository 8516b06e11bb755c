// `<efs-upload>`: a drop area and a button, and the files that are being sent.

import {
  type ChosenFile,
  chosenFiles,
  droppedFiles,
} from '../../client/src/bytes/dropped-files.ts';
import { droppedItems, isAccepted } from './accepted-files.ts';
import { readUploadLink, serviceAddress, type UploadPlace } from './addresses.ts';
import { BaseElement, reflect } from './base-element.ts';
import { make, makeButton, sizeText } from './dom.ts';
import { uploadCss } from './styles.ts';
import { type UploadTexts, uploadTexts } from './texts.ts';
import { type UploadChange, type UploadItem, UploadQueue } from './upload-queue.ts';
import { failureText, makeUploadRow, type UploadRow } from './upload-row.ts';

/** Number of files in the list of a page that sets no `maxFiles`. */
const shownMax = 5_000;

/** Without `folders`, files of a folder have no path. */
function namedFiles(files: Iterable<File>): ChosenFile[] {
  return [...files].map((file) => ({ file, path: file.name }));
}

/**
 * Uploads files to a bucket, in parts that continue after a lost network or a reload. Give it an
 * upload link, or an API key by script. Large files are read from the disk part by part.
 *
 * Events: `efs-upload-progress`, `efs-upload-done` and `efs-upload-error`, whose `detail` is an
 * `UploadItem`, and `efs-upload-complete` when no upload is under way any more. In a form with
 * `name`, the addresses of the stored files are sent.
 *
 * @example
 * ```ts
 * import '@encrypted-file-storage/elements';
 *
 * const upload = document.createElement('efs-upload');
 * upload.uploadLink = putUrl;
 * upload.maxFiles = 5;
 * upload.addEventListener('efs-upload-done', ({ detail }) => {
 *   document.querySelector('output')?.append(`${detail.name} is at ${detail.address}`);
 * });
 * document.body.append(upload);
 * upload.add([new File(['hello'], 'hello.txt', { type: 'text/plain' })]);
 * ```
 */
export class EfsUpload extends BaseElement<UploadTexts> {
  static readonly formAssociated = true;
  static readonly observedAttributes: readonly string[] = [
    ...['upload-link', 'url', 'bucket', 'prefix', 'max-files', 'max-bytes', 'accept'],
    ...['folders', 'disabled', 'name', 'required'],
  ];

  /**
   * An address of an upload link, as `uploadLinks.create` and `efs upload-link` return it. With
   * `putUrl` the addresses of stored files are known, and small files pass every gateway.
   */
  declare uploadLink: string;
  /** With a key: address of the service, by default the origin of the page. */
  declare url: string;
  /** With a key: id of the bucket. */
  declare bucket: string;
  /** With a key: beginning of the paths, such as `inbox/`. */
  declare prefix: string;
  /** Maximum number of files. */
  declare maxFiles: number | undefined;
  /** Maximum number of bytes of each file. */
  declare maxBytes: number | undefined;
  /** Accepted types, as in a file input: `image/*,.pdf`. */
  declare accept: string;
  /** Whether folders may be chosen and dropped. Their files keep their paths in the folder. */
  declare folders: boolean;
  declare disabled: boolean;
  /** Name of the addresses in a form. */
  declare name: string;
  /** Whether a form needs a stored file. */
  declare required: boolean;

  readonly #internals: ElementInternals;
  readonly #queue = new UploadQueue((item, change) => this.#onChange(item, change));
  readonly #rows = new Map<UploadItem, UploadRow>();
  readonly #input = make('input', { type: 'file', hidden: true });
  readonly #folderInput = make('input', { type: 'file', hidden: true, webkitdirectory: true });
  readonly #drop = make('div', { part: 'drop', role: 'group' });
  readonly #message = make('p', { part: 'error', role: 'alert' });
  readonly #list = make('ul', { part: 'list', role: 'list' });
  readonly #status = make('p', { class: 'quiet', role: 'status' });
  #apiKey = '';
  #nameFile = (_file: File, path: string) => path;
  #isFormDisabled = false;

  constructor() {
    super(uploadCss, uploadTexts);
    this.#internals = this.attachInternals();
    const inputs = [this.#input, this.#folderInput];
    this.root.append(this.#drop, ...inputs, this.#message, this.#list, this.#status);
    for (const input of inputs) {
      input.addEventListener('change', () => {
        this.add(input.files ?? []);
        // The same file can then be chosen again
        input.value = '';
      });
    }
    this.#listenToDrops();
  }

  /**
   * An API key with the permission `upload`, in place of an upload link. It is never an attribute
   * and never stored. Whoever uses the page can read it.
   *
   * @example
   * ```ts
   * const upload = document.createElement('efs-upload');
   * Object.assign(upload, { url, bucket: 'demo', prefix: 'inbox/', apiKey });
   * document.body.append(upload);
   * upload.add([new File(['sent with a key'], 'with-a-key.txt')]);
   * ```
   */
  set apiKey(key: string) {
    this.#apiKey = key;
    this.changed();
  }

  /**
   * Returns the name under which a file is stored; by default its own, with `folders` its path in
   * the folder. Files of the same name are refused.
   *
   * @example
   * ```ts
   * const upload = document.createElement('efs-upload');
   * upload.nameFile = (file, path) => `${crypto.randomUUID()}/${path}`;
   * ```
   */
  get nameFile(): (file: File, path: string) => string {
    return this.#nameFile;
  }

  set nameFile(nameFile: (file: File, path: string) => string) {
    this.#nameFile = nameFile;
  }

  /** The chosen files, with their states. */
  get files(): readonly UploadItem[] {
    return this.#queue.items;
  }

  /** The form that contains the element. */
  get form(): HTMLFormElement | null {
    return this.#internals.form;
  }

  /** Uploads files, within the limits. */
  add(files: Iterable<File>): void {
    this.#add(this.folders ? chosenFiles(files) : namedFiles(files));
  }

  #add(all: readonly ChosenFile[]): void {
    const place = this.#place();
    if (place === undefined || this.#isDisabled() || all.length === 0) return;
    const { maxFiles = shownMax } = this;
    const room = Math.max(0, maxFiles - this.#counted());
    const leftOut = Math.max(0, all.length - room);
    this.#say(leftOut === 0 ? '' : this.texts.tooMany(maxFiles, leftOut));
    for (const chosen of all.slice(0, room)) {
      const { file, path } = chosen;
      const message = this.#refusal(file);
      if (message !== undefined) this.#queue.refuse(chosen, { code: 'NotAccepted', message });
      else this.#queue.add({ place, apiKey: this.#apiKey, file, name: this.#nameFile(file, path) });
    }
  }

  /** Ends uploads and removes them from the list, by default all. Stored files stay. */
  cancel(item?: UploadItem): void {
    for (const each of item ? [item] : this.files) this.#queue.cancel(each);
  }

  /** Sends a failed file again, from the part that is missing; by default all failed files. */
  retry(item?: UploadItem): void {
    for (const each of item ? [item] : this.files) this.#queue.retry(each);
  }

  formResetCallback(): void {
    this.cancel();
  }

  formDisabledCallback(isDisabled: boolean): void {
    this.#isFormDisabled = isDisabled;
    this.changed();
  }

  protected render(): void {
    const { texts, accept, maxFiles, maxBytes } = this;
    const maxSize = maxBytes === undefined ? undefined : sizeText(maxBytes);
    const limits = texts.limits({ maxFiles, maxSize });
    const choose = makeButton({ text: texts.choose, part: 'button main' }, () =>
      this.#input.click(),
    );
    const chooseFolder = makeButton({ text: texts.chooseFolder, hidden: !this.folders }, () =>
      this.#folderInput.click(),
    );
    for (const button of [choose, chooseFolder]) {
      button.disabled = this.#isDisabled() || this.#place() === undefined;
    }
    this.#input.accept = accept;
    this.#input.multiple = maxFiles !== 1;
    this.#drop.setAttribute('aria-label', texts.label);
    this.#drop.replaceChildren(
      choose,
      chooseFolder,
      make('p', {}, texts.drop),
      make('p', { part: 'note', hidden: limits === '' }, limits),
    );
    this.#list.setAttribute('aria-label', texts.label);
    this.#rows.clear();
    this.#list.replaceChildren(...this.files.map((item) => this.#row(item).element));
    if (this.#place() === undefined) this.#say(texts.noPlace);
    else if (this.#message.textContent === texts.noPlace) this.#say('');
    this.#updateForm();
  }

  #row(item: UploadItem): UploadRow {
    const actions = { cancel: () => this.#queue.cancel(item), retry: () => this.retry(item) };
    const row = makeUploadRow(item, this.texts, actions);
    this.#rows.set(item, row);
    return row;
  }

  #place(): UploadPlace | undefined {
    if (this.#apiKey === '') return readUploadLink(this.uploadLink);
    const { bucket, prefix } = this;
    const url = serviceAddress(this.url);
    if (url === undefined || bucket === '') return undefined;
    return { url, bucket, query: '', path: (name) => prefix + name };
  }

  #isDisabled(): boolean {
    return this.disabled || this.#isFormDisabled;
  }

  /** Files that were refused take no place. */
  #counted(): number {
    return this.files.filter(({ state, isRetryable }) => state !== 'failed' || isRetryable).length;
  }

  #refusal(file: File): string | undefined {
    const { texts, accept, maxBytes = Number.POSITIVE_INFINITY } = this;
    if (!isAccepted(file, accept)) return texts.wrongType(accept);
    return file.size > maxBytes ? texts.tooLarge(sizeText(maxBytes)) : undefined;
  }

  #listenToDrops(): void {
    const mark = (isOver: boolean) => this.#drop.classList.toggle('over', isOver);
    this.#drop.addEventListener('dragover', (event) => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      mark(!this.#isDisabled());
    });
    this.#drop.addEventListener('dragleave', () => mark(false));
    this.#drop.addEventListener('drop', (event) => {
      event.preventDefault();
      mark(false);
      if (event.dataTransfer) this.#take(event.dataTransfer);
    });
  }

  #take(transfer: DataTransfer): void {
    if (this.folders) {
      const failed = () => this.#say(this.texts.unreadable);
      droppedFiles(transfer).then((chosen) => {
        if (chosen.length === 0) failed();
        this.#add(chosen);
      }, failed);
      return;
    }
    const dropped = droppedItems(transfer);
    this.add(dropped.filter(({ isFolder }) => !isFolder).map(({ file }) => file));
    if (dropped.some(({ isFolder }) => isFolder)) this.#say(this.texts.isFolder);
  }

  #onChange(item: UploadItem, change: UploadChange): void {
    const row = this.#rows.get(item);
    if (change === 'added') this.#list.append(this.#row(item).element);
    else if (change === 'removed') this.#removeRow(item, row);
    else row?.update();
    if (change === 'progress') {
      this.send('efs-upload-progress', item);
      return;
    }
    const { texts } = this;
    if (item.state === 'done') this.#announce(texts.doneMessage(item.name));
    if (item.state === 'offline') this.#announce(texts.offline);
    if (item.state === 'failed') {
      this.#announce(texts.failedMessage(item.name, failureText(item, texts)));
    }
    this.#updateForm();
    if (change !== 'state') return;
    if (item.state === 'done') this.send('efs-upload-done', item);
    if (item.state === 'failed') this.send('efs-upload-error', item);
    if (!this.#isBusy()) this.send('efs-upload-complete', { files: this.files });
  }

  /** The focus moves on, because its button disappears. */
  #removeRow(item: UploadItem, row: UploadRow | undefined): void {
    const isFocused = row?.element.contains(this.root.activeElement);
    row?.element.remove();
    this.#rows.delete(item);
    if (isFocused) this.#drop.querySelector('button')?.focus();
  }

  #isBusy(): boolean {
    return this.files.some(({ state }) => ['waiting', 'sending', 'offline'].includes(state));
  }

  #updateForm(): void {
    const stored = this.files.filter(({ state }) => state === 'done');
    const value = new FormData();
    for (const { address, name } of stored) value.append(this.name, address ?? name);
    this.#internals.setFormValue(this.name === '' ? null : value);
    const anchor = this.#drop.querySelector('button') ?? this.#drop;
    if (this.#isBusy()) {
      this.#internals.setValidity({ customError: true }, this.texts.unfinished, anchor);
    } else if (this.required && stored.length === 0) {
      this.#internals.setValidity({ valueMissing: true }, this.texts.required, anchor);
    } else {
      this.#internals.setValidity({});
    }
  }

  #say(text: string): void {
    if (this.#message.textContent !== text) this.#message.textContent = text;
  }

  #announce(text: string): void {
    this.#status.textContent = text;
  }
}

reflect(
  EfsUpload,
  {
    uploadLink: ['upload-link', 'text'],
    url: ['url', 'text'],
    bucket: ['bucket', 'text'],
    prefix: ['prefix', 'text'],
    maxFiles: ['max-files', 'number'],
    maxBytes: ['max-bytes', 'number'],
    accept: ['accept', 'text'],
    folders: ['folders', 'flag'],
    disabled: ['disabled', 'flag'],
    name: ['name', 'text'],
    required: ['required', 'flag'],
  },
  ['apiKey', 'nameFile'],
);
