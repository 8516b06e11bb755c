// What everybody is answered at an address that has an answer of its own, for those who need not
// open it.

import { findWellKnown } from '../domain/administration/well-known.ts';
import { findFile } from '../domain/files/files.ts';
import { indexPath } from '../domain/files/sites.ts';
import type { Stores } from '../domain/shared/stores.ts';
import { servedHeaders } from './file-headers.ts';
import type { PublicAnswer } from './message.ts';
import { textAnswer } from './well-known.ts';

/** `urlPath`: percent-decoded; empty segments do not count, as for verifiers. */
export function answerAt(stores: Stores, urlPath: string): Omit<PublicAnswer, 'row'> | undefined {
  const segments = urlPath.split('/').filter((segment) => segment !== '');
  const [top, name = '', ...rest] = segments;
  if (top === '.well-known') {
    const text = findWellKnown(stores, segments.slice(1).join('/'));
    return text && textAnswer(text);
  }
  const path = rest.join('/');
  const file = findFile(stores, name, urlPath.endsWith('/') ? indexPath(path) : path);
  if (file === undefined) return undefined;
  const isFormer = file.leavesVersion === 1;
  return { content: file, served: servedHeaders(file), address: urlPath, isFormer };
}
