// The dialog of a gallery: one file, and buttons to its neighbours.

import { fileAddress } from './addresses.ts';
import { make, makeButton } from './dom.ts';
import type { GalleryFile } from './gallery-list.ts';
import type { GalleryTexts } from './texts.ts';

export interface GalleryDialog {
  readonly element: HTMLDialogElement;
  show(file: GalleryFile): void;
}

interface DialogSource {
  readonly service: string;
  readonly texts: GalleryTexts;
  /** Returns the files that are shown, in order. */
  files(): readonly GalleryFile[];
}

export function makeDialog({ service, texts, files }: DialogSource): GalleryDialog {
  const element = make('dialog', { part: 'dialog' });
  let shown: GalleryFile | undefined;
  function move(step: -1 | 1): void {
    const next = shown && files()[files().indexOf(shown) + step];
    if (next !== undefined) show(next);
  }
  const previous = makeButton({ text: texts.previous }, () => move(-1));
  const next = makeButton({ text: texts.next }, () => move(1));
  const close = makeButton({ text: texts.close }, () => element.close());
  const place = make('div');
  element.append(make('div', { class: 'bar' }, previous, next, close), place);
  element.addEventListener('keydown', ({ key, target }) => {
    // Arrows seek in a video, and scroll a text
    if (place.contains(target as Node)) return;
    if (key === 'ArrowLeft') move(-1);
    if (key === 'ArrowRight') move(1);
  });
  // Ends a video
  element.addEventListener('close', () => place.replaceChildren());
  function show(file: GalleryFile): void {
    shown = file;
    const { name, contentType, size } = file;
    const src = fileAddress(service, file) ?? '';
    const view = document.createElement('efs-file');
    Object.assign(view, { src, name, type: contentType, size });
    element.setAttribute('aria-label', name);
    place.replaceChildren(view);
    const at = files().indexOf(file);
    previous.disabled = at <= 0;
    next.disabled = at === files().length - 1;
    if (!element.open) element.showModal();
  }
  return { element, show };
}
