// The tiles of a gallery: folders, pictures, and cards of other files.

import { fileAddress, pictureAddress } from './addresses.ts';
import { make, makeButton, makeSign, sizeText } from './dom.ts';
import { kindOf, nameOf, signOf } from './file-kinds.ts';
import type { GalleryFile } from './gallery-list.ts';

export function makeFolderTile(path: string, word: string, onClick: () => void): HTMLElement {
  const tile = makeButton({ text: '', part: 'tile folder' }, onClick);
  const name = nameOf(path).slice(0, -1);
  tile.append(
    makeSign('…/'),
    make('span', { part: 'name' }, name),
    make('span', { part: 'size' }, word),
  );
  return make('li', { part: 'item' }, tile);
}

interface TileOptions {
  readonly service: string;
  /** Larger pictures are shown as cards. */
  readonly maxPictureBytes: number;
  /** Called for a plain click; false lets the browser follow the link. */
  onOpen(): boolean;
}

export function makeFileTile(file: GalleryFile, options: TileOptions): HTMLElement {
  const { service, maxPictureBytes, onOpen } = options;
  const { name, size, contentType } = file;
  const address = pictureAddress(service, file);
  const isPicture = kindOf(contentType) === 'picture' && size <= maxPictureBytes;
  const tile = make(
    'a',
    { part: 'tile file', href: fileAddress(service, file), ...newTab },
    isPicture && address !== undefined ? makePicture(address, name) : makeSign(signOf(name)),
    make('span', { part: 'name' }, name),
    make('span', { part: 'size' }, sizeText(size)),
  );
  tile.addEventListener('click', (event) => {
    const isPlain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
    if (isPlain && onOpen()) event.preventDefault();
  });
  return make('li', { part: 'item' }, tile);
}

/** The service sandboxes files that could run scripts. */
const newTab = { target: '_blank', rel: 'noopener noreferrer' };

/** The name beside the picture describes it. */
function makePicture(address: string, name: string): HTMLImageElement {
  const picture = make('img', { part: 'picture', alt: '', loading: 'lazy', decoding: 'async' });
  picture.referrerPolicy = 'no-referrer';
  picture.addEventListener('error', () => picture.replaceWith(makeSign(signOf(name))));
  picture.src = address;
  return picture;
}
