// Whether thumbnails are shown in place of icons, and for which files.

import { signal } from '@preact/signals';
import type { FileRecord } from '../../../packages/client/src/types/files.ts';
import { shownType } from './shown-type.ts';

const sourceBytesMax = 10_000_000;

const settingName = 'efs-pictures';

/** Off by default, because each thumbnail downloads the whole picture. */
export const arePicturesShown = signal(localStorage.getItem(settingName) === '1');

export function togglePictures(): void {
  arePicturesShown.value = !arePicturesShown.value;
  if (arePicturesShown.value) localStorage.setItem(settingName, '1');
  else localStorage.removeItem(settingName);
}

/** Whether browsers can scale the picture down; they cannot for SVG. */
export function hasThumbnail(file: FileRecord): boolean {
  const isPicture = /^image\/(?!svg)/.test(shownType(file));
  return isPicture && file.size <= sourceBytesMax;
}
