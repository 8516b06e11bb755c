// The tiles of a gallery: folders, pictures, and cards of other files.

import { fileAddress, thumbnailAddress } from './addresses.ts';
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
  const address = fileAddress(service, file);
  const isPicture = kindOf(contentType) === 'picture' && size <= maxPictureBytes;
  const addresses = [
    file.hasThumbnail ? thumbnailAddress(service, file) : undefined,
    isPicture ? address : undefined,
  ].filter((each) => each !== undefined);
  const tile = make(
    'a',
    { part: 'tile file', href: address, ...newTab },
    addresses.length > 0 ? makePicture(addresses, name) : makeSign(signOf(name)),
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

/** Shows the first of the addresses that has a picture. The name beside it describes it. */
function makePicture(addresses: readonly string[], name: string): HTMLImageElement {
  const picture = make('img', { part: 'picture', alt: '', loading: 'lazy', decoding: 'async' });
  picture.referrerPolicy = 'no-referrer';
  let shown = 0;
  const show = () => {
    const address = addresses[shown];
    shown += 1;
    if (address === undefined) picture.replaceWith(makeSign(signOf(name)));
    else picture.src = address;
  };
  picture.addEventListener('error', show);
  show();
  return picture;
}
