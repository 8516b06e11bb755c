// `<efs-gallery>`: the files of a publicly listed bucket as a grid, with folders and pages.

import { isStorageError } from '../../client/src/storage-error.ts';
import { serviceAddress } from './addresses.ts';
import { BaseElement, reflect } from './base-element.ts';
import { make, makeButton } from './dom.ts';
import { type GalleryDialog, makeDialog } from './gallery-dialog.ts';
import {
  type GalleryFile,
  type GalleryPage,
  type GalleryQuery,
  type GallerySort,
  readPage,
} from './gallery-list.ts';
import { makeFileTile, makeFolderTile } from './gallery-tiles.ts';
import { connectionTo } from './service.ts';
import { galleryCss } from './styles.ts';
import { type GalleryTexts, galleryTexts } from './texts.ts';

const pageSizeDefault = 60;
const pageSizeMax = 1_000;
const maxPictureBytesDefault = 10_000_000;
const sorts: readonly string[] = ['name_asc', 'name_desc', 'date_asc', 'date_desc'];

/**
 * Shows the files of a bucket that everybody may list: pictures, cards of other files, folders.
 * `efs-gallery-open` has the file as its `detail`, and its default can be prevented;
 * `efs-gallery-load` follows each page, `efs-gallery-error` a failure.
 *
 * @example
 * ```ts
 * import '@encrypted-file-storage/elements';
 *
 * const gallery = document.createElement('efs-gallery');
 * Object.assign(gallery, { url, bucket: 'demo', pageSize: 30 });
 * gallery.addEventListener('efs-gallery-open', (event) => {
 *   event.preventDefault();
 *   console.log(event.detail.path);
 * });
 * document.body.append(gallery);
 * ```
 */
export class EfsGallery extends BaseElement<GalleryTexts> {
  static readonly observedAttributes: readonly string[] = [
    ...['url', 'bucket', 'prefix', 'sort', 'page-size', 'max-picture-bytes', 'auto', 'target'],
  ];

  /** Address of the service, by default the origin of the page. */
  declare url: string;
  /** Id of the bucket, which must be listed publicly. */
  declare bucket: string;
  /** Beginning of the paths; a folder ends with a slash. */
  declare prefix: string;
  /** `name_asc` by default. By date, all files below the prefix are listed without folders. */
  declare sort: GallerySort | '';
  /** Files and folders of a page, at most 1,000; 60 by default. By date, a page has 50 files. */
  declare pageSize: number | undefined;
  /** Larger pictures are shown as cards; 10,000,000 by default. */
  declare maxPictureBytes: number | undefined;
  /** Whether the next page loads when its button is scrolled into view. */
  declare auto: boolean;
  /** `dialog` by default; `tab` opens files in a new tab. */
  declare target: 'dialog' | 'tab' | '';

  readonly #nav = make('nav', { part: 'folders' });
  readonly #grid = make('ul', { part: 'grid', role: 'list' });
  readonly #message = make('p', { part: 'message', role: 'status' });
  readonly #more = make('div', { class: 'more' });
  readonly #status = make('p', { class: 'quiet', role: 'status' });
  #observer: IntersectionObserver | undefined;
  #controller = new AbortController();
  #dialog: GalleryDialog | undefined;
  #files: GalleryFile[] = [];
  /** The folder that the visitor has entered. */
  #folder: string | undefined;
  #next: string | undefined;

  constructor() {
    super(galleryCss, galleryTexts);
    this.root.append(this.#nav, this.#grid, this.#message, this.#more, this.#status);
  }

  /** The folder that is shown; it begins with `prefix`. */
  get folder(): string {
    return this.#folder ?? this.prefix;
  }

  set folder(path: string) {
    this.#folder = path.startsWith(this.prefix) ? path : undefined;
    this.changed();
  }

  override attributeChangedCallback(name: string, former: string | null, value: string | null) {
    if (former !== value && (name === 'bucket' || name === 'prefix')) this.#folder = undefined;
    super.attributeChangedCallback(name, former, value);
  }

  disconnectedCallback(): void {
    this.#controller.abort();
    this.#observer?.disconnect();
  }

  /** Reads the list again. */
  reload(): void {
    this.changed();
  }

  protected render(): void {
    this.#controller.abort();
    this.#controller = new AbortController();
    const { texts, bucket } = this;
    const service = serviceAddress(this.url);
    this.#dialog?.element.remove();
    this.#files = [];
    this.#next = undefined;
    this.#grid.replaceChildren();
    this.#grid.setAttribute('aria-label', texts.label);
    this.#more.replaceChildren();
    this.#drawFolders();
    if (service === undefined || bucket === '') {
      this.#message.textContent = texts.noBucket;
      return;
    }
    this.#dialog = makeDialog({ service, texts, files: () => this.#files });
    this.root.append(this.#dialog.element);
    void this.#load(service);
  }

  async #load(service: string): Promise<void> {
    const { signal } = this.#controller;
    this.#message.textContent = this.texts.loading;
    this.#more.querySelector('button')?.setAttribute('aria-disabled', 'true');
    try {
      const reading = { connection: connectionTo(service), signal };
      const page = await readPage(this.#query(), this.#next, reading);
      if (signal.aborted) return;
      this.#draw(page, service);
      this.send('efs-gallery-load', { count: this.#grid.childElementCount });
    } catch (error) {
      if (!signal.aborted) this.#fail(error, service);
    }
  }

  #query(): GalleryQuery {
    const { bucket, folder, sort } = this;
    const limit = Math.min(pageSizeMax, Math.max(1, Math.floor(this.pageSize ?? pageSizeDefault)));
    const known = sorts.includes(sort) ? (sort as GallerySort) : 'name_asc';
    return { bucket, prefix: folder, sort: known, limit };
  }

  #draw({ folders, files, next }: GalleryPage, service: string): void {
    const { texts } = this;
    const hadFocus = this.#more.contains(this.root.activeElement);
    const tiles = [
      ...folders.map((path) => makeFolderTile(path, texts.folder, () => this.#enter(path))),
      ...files.map((file) => {
        const { maxPictureBytes = maxPictureBytesDefault } = this;
        const onOpen = () => this.#open(file);
        return makeFileTile(file, { service, maxPictureBytes, onOpen });
      }),
    ];
    this.#grid.append(...tiles);
    this.#files.push(...files);
    this.#next = next;
    const count = this.#grid.childElementCount;
    this.#message.textContent = count === 0 && next === undefined ? texts.empty : '';
    if (count > 0) this.#status.textContent = texts.shown(count);
    this.#drawMore(service, tiles.length > 0);
    if (!hadFocus) return;
    const target = next === undefined ? tiles[0]?.querySelector('a, button') : this.#moreButton();
    if (target instanceof HTMLElement) target.focus();
  }

  /** A page without entries does not load the next one, which an answer could repeat for ever. */
  #drawMore(service: string, mayContinue: boolean): void {
    this.#observer?.disconnect();
    this.#more.replaceChildren();
    if (this.#next === undefined) return;
    const load = () => {
      if (this.#moreButton()?.ariaDisabled !== 'true') void this.#load(service);
    };
    this.#more.append(makeButton({ text: this.texts.more }, load));
    if (!this.auto || !mayContinue) return;
    this.#observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) load();
    });
    this.#observer.observe(this.#more);
  }

  #moreButton(): HTMLButtonElement | null {
    return this.#more.querySelector('button');
  }

  #fail(error: unknown, service: string): void {
    const { texts, bucket } = this;
    const isHidden = isStorageError(error, 'Unauthorized', 'NoSuchBucket', 'AccessDenied');
    this.#message.textContent = isHidden ? texts.notListed(bucket) : texts.failed;
    this.#observer?.disconnect();
    const again = makeButton({ text: texts.retry }, () => void this.#load(service));
    this.#more.replaceChildren(...(isHidden ? [] : [again]));
    const { code = 'Failed', message } = error as { code?: string; message: string };
    this.send('efs-gallery-error', { code, message });
  }

  #drawFolders(): void {
    const { texts, prefix, folder } = this;
    const names = folder.slice(prefix.length).split('/').slice(0, -1);
    this.#nav.setAttribute('aria-label', texts.folder);
    this.#nav.hidden = names.length === 0;
    const steps = names.map((name, index) => {
      return [name, `${prefix}${names.slice(0, index + 1).join('/')}/`] as const;
    });
    const buttons = [[texts.root, prefix] as const, ...steps].map(([text, path]) => {
      const isHere = path === folder ? 'page' : undefined;
      return makeButton({ text, 'aria-current': isHere }, () => this.#enter(path));
    });
    this.#nav.replaceChildren(...buttons);
  }

  /** The focus stays in the element: at the folder, or at the button of the whole gallery. */
  #enter(path: string): void {
    this.#folder = path;
    this.render();
    const target = this.#nav.querySelector<HTMLElement>('[aria-current]') ?? this.#grid;
    if (target === this.#grid || this.#nav.hidden) {
      this.#grid.tabIndex = -1;
      this.#grid.focus();
    } else target.focus();
    this.send('efs-gallery-folder', { path });
  }

  #open(file: GalleryFile): boolean {
    if (!this.send('efs-gallery-open', file, true)) return true;
    if (this.target === 'tab') return false;
    this.#dialog?.show(file);
    return true;
  }
}

reflect(
  EfsGallery,
  {
    url: ['url', 'text'],
    bucket: ['bucket', 'text'],
    prefix: ['prefix', 'text'],
    sort: ['sort', 'text'],
    pageSize: ['page-size', 'number'],
    maxPictureBytes: ['max-picture-bytes', 'number'],
    auto: ['auto', 'flag'],
    target: ['target', 'text'],
  },
  ['folder'],
);
