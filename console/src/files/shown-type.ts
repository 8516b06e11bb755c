// The type of a file as shown to users.

import type { FileRecord } from '../../../packages/client/src/types/files.ts';
import { isSealed } from './sealed.ts';

/** Types of encrypted files by extension, because their stored type is application/age. */
const sealedTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  svg: 'image/svg+xml',
  mp4: 'video/mp4',
  webm: 'video/webm',
  mp3: 'audio/mpeg',
  m4a: 'audio/mp4',
  ogg: 'audio/ogg',
  wav: 'audio/wav',
  pdf: 'application/pdf',
  txt: 'text/plain',
  html: 'text/html',
  csv: 'text/csv',
  json: 'application/json',
  md: 'text/markdown',
};

/** Returns '' for an unknown extension. */
export function typeOfName(name: string): string {
  return sealedTypes[name.slice(name.lastIndexOf('.') + 1).toLowerCase()] ?? '';
}

/** Returns the type in lower case, without parameters. */
export function shownType(file: FileRecord): string {
  const told = isSealed(file) ? typeOfName(file.path) : file.contentType;
  return told.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** Extensions of source code and settings, whose media types are often unknown or misleading. */
const codeExtensions = new Set(
  (
    'bash c cc cfg conf cpp cs css did env fish go h hpp ini java jsx js kt less log lua mjs mo ' +
    'php pl ps1 py r rb rs scala scss sh sql svelte swift tex toml ts tsx vue yaml yml zsh'
  ).split(' '),
);

export function isCodeName(name: string): boolean {
  return codeExtensions.has(name.slice(name.lastIndexOf('.') + 1).toLowerCase());
}

/** Whether browsers can scale files of the type down; they cannot for SVG. */
export function isPicture(type: string): boolean {
  return /^image\/(?!svg)/.test(type);
}
