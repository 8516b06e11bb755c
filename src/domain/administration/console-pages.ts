// The pages of the console and other texts, which the build puts into the Wasm
// (scripts/console.ts). Only an upgrade changes them.
//
//   data          length of the directory u32, little endian | directory, JSON: a list of
//                 PageEntry | the bytes of the pages in this order

import { present } from '../../lib/assert.ts';
import { decodeHex } from '../../lib/hex.ts';
import { decodeUtf8, encodeUtf8 } from '../../lib/text.ts';
import { RecordReader, RecordWriter } from '../../storage/codec.ts';
import { mergedDataSize, readMergedData } from '../../storage/merged-data.ts';
import type { Stores } from '../shared/stores.ts';

/** A page's entry, as the build writes it. */
interface PageEntry {
  /** The path at the canister's address, such as `/assets/index-3f2a.js`, or the name of a text. */
  readonly address: string;
  readonly contentType: string;
  /** Whether the stored bytes are compressed with gzip. */
  readonly isCompressed: boolean;
  /** Offset of its first byte from the end of the directory. */
  readonly offset: number;
  /** Number of stored bytes. */
  readonly size: number;
  /** SHA-256 of the stored bytes, hexadecimal. */
  readonly sha256: string;
}

export interface ConsolePage extends PageEntry {
  readonly digest: Uint8Array;
}

const lengthBytes = 4;

/** Read once, at install or upgrade, so that queries find it on the heap. */
let directory: Directory | undefined;

interface Directory {
  readonly pages: readonly ConsolePage[];
  readonly texts: readonly ConsolePage[];
  /** Offset of the first page in the data. */
  readonly start: number;
}

function readDirectory(): Directory {
  if (mergedDataSize() === 0) return { pages: [], texts: [], start: 0 };
  const [length = 0] = new Uint32Array(readMergedData(0, lengthBytes).buffer);
  const json = present(decodeUtf8(readMergedData(lengthBytes, length)), 'text of the directory');
  const all = (JSON.parse(json) as PageEntry[]).map((entry) => {
    return { ...entry, digest: present(decodeHex(entry.sha256), 'digest in hexadecimal') };
  });
  const isPage = ({ address }: PageEntry) => address.startsWith('/');
  const texts = all.filter((entry) => !isPage(entry));
  return { pages: all.filter(isPage), texts, start: lengthBytes + length };
}

function openDirectory(): Directory {
  directory ??= readDirectory();
  return directory;
}

/** Returns all pages; an empty list if the build added none. */
export function consolePages(): readonly ConsolePage[] {
  return openDirectory().pages;
}

/** Texts that answers contain; they have no address of their own. */
export type BuiltText = 'api-doc' | 'webmcp-volume' | 'webmcp-front';

/** Returns the text in UTF-8. */
export function readBuiltText(name: BuiltText): Uint8Array {
  const text = openDirectory().texts.find(({ address }) => address === name);
  return readConsolePage(present(text, name));
}

/** Returns the stored bytes of a page. */
export function readConsolePage({ offset, size }: ConsolePage): Uint8Array {
  return readMergedData(openDirectory().start + offset, size);
}

// Record in the meta map: version 1 | texts: addresses of the certified pages
const version = 1;
const addressesKey = 'consolePages';

/** Stores the addresses of all pages that are now certified; returns the former ones. */
export function replacePageAddresses(stores: Stores, addresses: readonly string[]): string[] {
  const key = encodeUtf8(addressesKey);
  const stored = stores.meta.get(key);
  const former = stored === undefined ? [] : new RecordReader(stored, version).texts();
  if (addresses.length > 0) stores.meta.set(key, new RecordWriter(version).finish(addresses));
  else if (stored !== undefined) stores.meta.delete(key);
  return former;
}
