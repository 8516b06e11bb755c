// What everybody is answered at an address that has an answer of its own, for those who need not
// open it.

import { findWellKnown } from '../domain/administration/well-known.ts';
import { findFile } from '../domain/files/files.ts';
import type { Stores } from '../domain/shared/stores.ts';
import { servedHeaders } from './file-headers.ts';
import type { PublicAnswer } from './message.ts';
import { textAnswer } from './well-known.ts';

/** `urlPath`: percent-decoded. */
export function answerAt(stores: Stores, urlPath: string): Omit<PublicAnswer, 'row'> | undefined {
  const [, top, name = '', ...segments] = urlPath.split('/');
  if (top === '.well-known') {
    const text = findWellKnown(stores, [name, ...segments].join('/'));
    return text && textAnswer(text);
  }
  const file = findFile(stores, name, segments.join('/'));
  if (file === undefined) return undefined;
  const isFormer = file.leavesVersion === 1;
  return { content: file, served: servedHeaders(file), address: urlPath, isFormer };
}
