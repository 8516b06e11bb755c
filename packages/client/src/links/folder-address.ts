// Addresses of links to folders. The fragment, which browsers never send, has an API key that may
// read the folder. In an end-to-end bucket it also has the secret that decrypts the list of the
// files' keys, the list's place below the folder and, if names are sealed, the folder's name.
//
//   https://{front}/#link=folder&key=efs_…&bucket=demo&volume={id}&shared=trip%2F
//   …&secret={version 1 | 32 bytes}&list=.efs-shared%2F{id}.age&name=trip&shared=…
//
// The folder comes last and ends in a slash, so that a truncated address is not a valid one. The
// whole bucket is a slash alone. The first field tells the address from one with an ordinary key,
// wherever it is cut off.

import { isBucketId } from '../../../wire/src/bucket-id.ts';
import { StorageError } from '../storage-error.ts';

/** The folder, below the shared one, of the lists of files' keys. */
export const sharedListFolder = '.efs-shared/';

const sharedListPattern = /(?:^|\/)\.efs-shared\/[\w-]{16}\.age$/;

/**
 * Whether the file is a list of files' keys. Others in its folder are ordinary files: whoever may
 * write must not hide files there.
 */
export function isOfSharedList(path: string): boolean {
  return sharedListPattern.test(path);
}

/** The part of an address that opens the files of an end-to-end bucket. */
export interface FolderSecret {
  /** 44 characters: a version byte of 1 and 32 bytes, in base64url. */
  readonly secret: string;
  /** The stored path of the list of the files' keys, relative to the folder. */
  readonly list: string;
  /** The folder's plain name if the bucket seals names. */
  readonly name?: string | undefined;
}

export interface FolderAddress {
  readonly key: string;
  readonly bucket: string;
  /** As the service stores it. Ends in a slash; '' for the whole bucket. */
  readonly prefix: string;
  /** The canister that has the bucket, in an address of a front. */
  readonly volume?: string | undefined;
  readonly sealed?: FolderSecret | undefined;
}

/** `base`: the address of the front or the volume, without a final slash. */
export function folderUrl(base: string, address: FolderAddress): string {
  const { key, bucket, prefix, volume, sealed } = address;
  const shared = prefix || '/';
  const { secret, list, name } = sealed ?? {};
  const link = 'folder';
  const fields = Object.entries({ link, key, bucket, volume, secret, list, name, shared });
  const given = fields.filter((field): field is [string, string] => field[1] !== undefined);
  return `${base}/#${new URLSearchParams(given)}`;
}

const patterns: Readonly<Record<string, RegExp>> = {
  link: /^folder$/,
  key: /^efs_[\w-]{49}$/,
  bucket: /^.{1,64}$/,
  volume: /^[a-z2-7]{5}(?:-[a-z2-7]{3,5})+$/,
  secret: /^[\w-]{44}$/,
  list: /^[\w.-]{1,100}\/[\w.-]{1,100}$/,
  name: /^[^/\p{Cc}]{1,150}$/u,
  shared: /^(?:.{1,1023})?\/$/su,
};

/** Whether the address is a folder's link, possibly an incomplete one. */
export function isFolderUrl(url: string): boolean {
  return URL.canParse(url) && /^#link=folder(?:&|$)/.test(new URL(url).hash);
}

/** Parses the fragment of an address, with its `#`. Throws InvalidArgument if it is not whole. */
export function folderAddressOf(fragment: string): FolderAddress {
  const given = [...new URLSearchParams(fragment.slice(1))];
  const fields = Object.fromEntries(given);
  const fits = ([name, value]: readonly [string, string]) =>
    Object.hasOwn(patterns, name) && patterns[name]?.test(value);
  const isFirst = given[0]?.[0] === 'link';
  const isValid = isFirst && given.length === Object.keys(fields).length && given.every(fits);
  const { key, bucket = '', shared: prefix, volume, secret, list, name } = fields;
  const hasSecret = secret !== undefined && list !== undefined;
  const isWhole = hasSecret || (secret ?? list ?? name) === undefined;
  const isPlain = prefix?.split('/').every((part) => part !== '.' && part !== '..') === true;
  if (!isValid || !isWhole || !isPlain || key === undefined || !isBucketId(bucket)) {
    const words = 'The address of the folder is not valid or is cut off; use the complete address.';
    throw new StorageError('InvalidArgument', words);
  }
  const sealed = hasSecret ? { secret, list, name } : undefined;
  return { key, bucket, prefix: prefix === '/' ? '' : (prefix ?? ''), volume, sealed };
}

/** Returns the folder as callers see it: with its plain name if the bucket seals names. */
export function shownPrefix({ prefix, sealed }: Pick<FolderAddress, 'prefix' | 'sealed'>): string {
  if (sealed?.name === undefined || prefix === '') return prefix;
  return `${prefix.split('/').slice(0, -2).concat(sealed.name).join('/')}/`;
}
