// `<efs-file>`: one file, shown if its type is safe, and a card with its name, size and type.

import { shownAddress } from './addresses.ts';
import { BaseElement, reflect } from './base-element.ts';
import { make, makeSign, sizeText } from './dom.ts';
import { type FileKind, kindOf, signOf } from './file-kinds.ts';
import { fileCss } from './styles.ts';
import { type FileTexts, fileTexts } from './texts.ts';

/** Longer texts are shown up to here. */
const textBytesMax = 100_000;

interface Facts {
  readonly type: string;
  readonly size: number | undefined;
  readonly response?: Response;
}

/**
 * Shows one file of a public address (`/cloud/…`) or a link (`/s/…`): pictures, video, audio and
 * text of safe types, and a card with name, size and type for all files. Sends `efs-file-load`, and
 * `efs-file-error` with a `message`.
 *
 * @example
 * ```ts
 * import '@encrypted-file-storage/elements';
 *
 * const file = document.createElement('efs-file');
 * file.src = `${url}/cloud/demo/notes/hello.txt`;
 * file.addEventListener('efs-file-load', () => console.log('shown'));
 * document.body.append(file);
 * ```
 */
export class EfsFile extends BaseElement<FileTexts> {
  static readonly observedAttributes: readonly string[] = ['src', 'name', 'type', 'size'];

  /** The address of a public file, or of a link. */
  declare src: string;
  /** Name to show; by default that of the address. */
  declare name: string;
  /** Media type; without it, a request asks for it. */
  declare type: string;
  /** Number of bytes; without it and the type, a request asks for it. */
  declare size: number | undefined;

  readonly #box = make('div', { part: 'box' });
  readonly #message = make('p', { part: 'message', role: 'status' });
  #controller = new AbortController();

  constructor() {
    super(fileCss, fileTexts);
    this.root.append(this.#box, this.#message);
  }

  disconnectedCallback(): void {
    this.#controller.abort();
  }

  protected render(): void {
    this.#controller.abort();
    this.#controller = new AbortController();
    this.#box.replaceChildren();
    const address = shownAddress(this.src);
    if (address === undefined) this.#fail(this.texts.noAddress, 'error');
    else void this.#show(address, this.#controller.signal);
  }

  async #show(address: URL, signal: AbortSignal): Promise<void> {
    this.#message.textContent = this.texts.loading;
    try {
      const facts = await this.#facts(address, signal);
      const kind = isLocked(address) ? 'other' : kindOf(facts.type);
      const text = kind === 'text' ? await beginningOf(address, facts, signal) : undefined;
      // Ends the download that only told type and size
      if (kind !== 'text') void facts.response?.body?.cancel();
      if (signal.aborted) return;
      this.#message.textContent = '';
      this.#draw(address, facts, { kind, text });
      this.send('efs-file-load', { name: this.#name(address), type: facts.type });
    } catch (error) {
      if (signal.aborted) return;
      const isMissing = error instanceof MissingFile;
      this.#fail(isMissing ? this.texts.missing : this.texts.failed, String(error));
    }
  }

  /** A GET whose body is not read costs the service nothing; a HEAD would be an update. */
  async #facts(address: URL, signal: AbortSignal): Promise<Facts> {
    if (this.type !== '' || isLocked(address)) return { type: this.type, size: this.size };
    const response = await request(address, signal);
    const length = response.headers.get('content-length');
    const size = this.size ?? (length === null ? undefined : Number(length));
    return { type: response.headers.get('content-type') ?? '', size, response };
  }

  #draw(
    { href, pathname }: URL,
    { type, size }: Facts,
    { kind, text }: { readonly kind: FileKind; readonly text: string | undefined },
  ): void {
    const name = this.#name({ pathname });
    const preview = text === undefined ? makePreview(href, name, kind) : makeText(name, text);
    const isCut = text !== undefined && (size ?? 0) > textBytesMax;
    const words = [size === undefined ? '' : sizeText(size), type.split(';', 1)[0] ?? ''];
    const open = { part: 'link', href, target: '_blank', rel: 'noopener noreferrer' };
    const card = make(
      'p',
      { part: 'card' },
      make('span', { part: 'name' }, name),
      make('span', { part: 'note' }, words.filter((word) => word !== '').join(', ')),
      make('a', { ...open, 'aria-label': `${this.texts.open}: ${name}` }, this.texts.open),
    );
    const cut = isCut ? this.texts.onlyBeginning(sizeText(textBytesMax)) : undefined;
    this.#box.replaceChildren(preview, ...(cut ? [make('p', { part: 'note' }, cut)] : []), card);
    preview.addEventListener('error', () => preview.replaceWith(makeSign(signOf(name))));
  }

  #name({ pathname }: Pick<URL, 'pathname'>): string {
    if (this.name !== '') return this.name;
    const last = pathname.slice(pathname.lastIndexOf('/') + 1);
    try {
      return decodeURIComponent(last);
    } catch {
      return last;
    }
  }

  #fail(text: string, reason: string): void {
    this.#message.textContent = text;
    this.send('efs-file-error', { message: text, reason });
  }
}

/** The page of a link with a password or a key in its fragment asks for it, or decrypts. */
function isLocked({ hash }: URL): boolean {
  return hash !== '';
}

class MissingFile extends Error {}

async function request(address: URL, signal: AbortSignal): Promise<Response> {
  const response = await fetch(address, { signal, referrerPolicy: 'no-referrer' });
  if (response.ok) return response;
  void response.body?.cancel();
  if ([401, 403, 404].includes(response.status)) throw new MissingFile(String(response.status));
  throw new Error(`The service answered ${response.status}.`);
}

async function beginningOf(address: URL, facts: Facts, signal: AbortSignal): Promise<string> {
  const { body } = facts.response ?? (await request(address, signal));
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let bytes = 0; reader !== undefined && bytes < textBytesMax; ) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value.subarray(0, textBytesMax - bytes), { stream: true });
    bytes += value.length;
  }
  void reader?.cancel();
  return text;
}

/** Types that are not known as safe get no element that would load them. */
function makePreview(href: string, name: string, kind: FileKind): HTMLElement {
  if (kind === 'picture') {
    const picture = make('img', { part: 'picture', alt: name });
    picture.referrerPolicy = 'no-referrer';
    picture.src = href;
    return picture;
  }
  if (kind === 'video' || kind === 'audio') {
    const attributes = { part: kind, src: href, controls: '', preload: 'metadata' };
    return make(kind, { ...attributes, 'aria-label': name });
  }
  return makeSign(signOf(name));
}

function makeText(name: string, text: string): HTMLElement {
  // Keyboards scroll only a region with the focus
  const attributes = { part: 'content', tabindex: 0, role: 'region', 'aria-label': name };
  return make('pre', attributes, text);
}

reflect(EfsFile, {
  src: ['src', 'text'],
  name: ['name', 'text'],
  type: ['type', 'text'],
  size: ['size', 'number'],
});
