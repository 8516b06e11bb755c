// What a file is, for whoever is to see it.

import type { FileRecord } from '../../../packages/client/src/interface.ts';
import { isSealed } from './download.ts';

/** Of sealed files, whose type is that of what seals them: by the name's end. */
const sealedTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  txt: 'text/plain',
  csv: 'text/csv',
  json: 'application/json',
  md: 'text/markdown',
};

/** Lower case, without parameters. */
export function shownType(file: FileRecord): string {
  const end = file.path.slice(file.path.lastIndexOf('.') + 1).toLowerCase();
  const told = isSealed(file) ? (sealedTypes[end] ?? '') : file.contentType;
  return told.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}
