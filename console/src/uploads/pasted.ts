// Names of pasted files.

import { type ChosenFile, chosenFiles } from '../../../packages/client/src/bytes/dropped-files.ts';
import { texts } from '../language.ts';

/** Browsers give each pasted picture this name. */
const pictureName = 'image.png';

/** Pasted pictures are named by the time, so that the next one does not replace them. */
export function pastedOf(clipboard: DataTransfer | null, now = new Date()): ChosenFile[] {
  const time = now.toISOString().slice(0, 19).replace('T', ' ').replaceAll(':', '.');
  return chosenFiles(clipboard?.files ?? []).map(({ file, path }) => {
    return { file, path: path === pictureName ? `${texts().files.pasted(time)}.png` : path };
  });
}
