// Whether rows show large pictures, and for which files.

import { signal } from '@preact/signals';
import type { FileRecord } from '../../../packages/client/src/types/files.ts';
import { isPicture, shownType } from './shown-type.ts';

const sourceBytesMax = 10_000_000;

const settingName = 'efs-pictures';

/** Off by default, because a picture without a stored thumbnail is downloaded as a whole. */
export const arePicturesShown = signal(localStorage.getItem(settingName) === '1');

export function togglePictures(): void {
  arePicturesShown.value = !arePicturesShown.value;
  if (arePicturesShown.value) localStorage.setItem(settingName, '1');
  else localStorage.removeItem(settingName);
}

/** Whether a thumbnail may be stored with the file, or can be made of it. */
export function mayHaveThumbnail(file: FileRecord): boolean {
  const type = shownType(file);
  return isPicture(type) || type.startsWith('video/');
}

/** Whether a thumbnail is made of the whole file. */
export function isMade(file: FileRecord): boolean {
  return arePicturesShown.value && isPicture(shownType(file)) && file.size <= sourceBytesMax;
}
