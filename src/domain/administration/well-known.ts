// Small texts at `/.well-known/{name}` (RFC 8615) that controllers of the canister set, such as the
// list of domains at which gateways may serve this canister. In the meta map:
//
//   wellKnown         -> 0: version 1 | texts: names
//   wellKnown/{name}  -> 0: version 1 | set at u64 | texts: content type, body

import { sha256 } from '../../crypto/hash.ts';
import { decodeUtf8, encodeUtf8 } from '../../lib/text.ts';
import { wellKnownBytesMax, wellKnownCountMax, wellKnownNameLengthMax } from '../../limits.ts';
import { RecordReader, RecordWriter } from '../../storage/codec.ts';
import { type Call, requireController } from '../shared/caller.ts';
import { parseContentType, quote } from '../shared/names.ts';
import type { PublishedText } from '../shared/publication.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';

const version = 1;
const namesKey = 'wellKnown';
/** The text that describes the canister's role in its service to programs. */
const serviceTextName = 'efs-service';

export interface WellKnownText {
  readonly name: string;
  readonly contentType: string;
  readonly body: string;
}

export interface WellKnownChange {
  /** The part of the address after `/.well-known/`. */
  readonly name: string;
  /** Absent: removes the text. */
  readonly content?:
    | { readonly contentType?: string | undefined; readonly body: string }
    | undefined;
}

function textKey(name: string): Uint8Array {
  return encodeUtf8(`${namesKey}/${name}`);
}

function readNames(stores: Stores): string[] {
  const bytes = stores.meta.get(encodeUtf8(namesKey));
  return bytes === undefined ? [] : new RecordReader(bytes, version).texts();
}

/** Returns the text stored under that name; `undefined` if no text is stored. */
export function findWellKnown(stores: Stores, name: string): PublishedText | undefined {
  const stored = stores.meta.get(textKey(name));
  if (stored === undefined) return undefined;
  const reader = new RecordReader(stored, version);
  const updatedAtNs = reader.u64();
  const [contentType = '', text = ''] = reader.texts();
  const body = encodeUtf8(text);
  return { name, contentType, body, digest: sha256(body), updatedAtNs };
}

/** Returns all texts by name. For controllers. */
export function listWellKnown(stores: Stores, call: Call): WellKnownText[] {
  requireController(call);
  return readNames(stores).flatMap((name) => {
    const found = findWellKnown(stores, name);
    if (found === undefined) return [];
    return { name, contentType: found.contentType, body: decodeUtf8(found.body) ?? '' };
  });
}

/** Sets or removes one text and keeps the others. For controllers. */
export function setWellKnown(stores: Stores, call: Call, change: WellKnownChange): void {
  requireController(call);
  const name = parseName(change.name);
  const names = readNames(stores);
  const others = names.filter((other) => other !== name);
  if (change.content === undefined) {
    saveNames(stores, others);
    stores.meta.delete(textKey(name));
    stores.publication.removeText(name);
    return;
  }
  const { contentType, body } = parseContent(name, change.content);
  if (others.length >= wellKnownCountMax) {
    throw new Refusal(
      'QuotaExceeded',
      `/.well-known/ has its maximum of ${wellKnownCountMax} names: remove one first.`,
      { limit: wellKnownCountMax },
    );
  }
  saveNames(stores, [...others, name].toSorted());
  const record = new RecordWriter(version).u64(call.nowNs).finish([contentType, body]);
  stores.meta.set(textKey(name), record);
  const bytes = encodeUtf8(body);
  const text = { name, contentType, body: bytes, digest: sha256(bytes), updatedAtNs: call.nowNs };
  stores.publication.putText(text);
}

function saveNames(stores: Stores, names: readonly string[]): void {
  if (names.length === 0) stores.meta.delete(encodeUtf8(namesKey));
  else stores.meta.set(encodeUtf8(namesKey), new RecordWriter(version).finish(names));
}

/** Unreserved characters of RFC 3986 §2.3. */
const segment = '[A-Za-z0-9._~-]+';
const namePattern = new RegExp(`^${segment}(?:/${segment})?$`);
const dotsPattern = /^\.{1,2}$/;

function parseName(text: string): string {
  const isName = text.length <= wellKnownNameLengthMax && namePattern.test(text);
  if (!isName || text.split('/').some((part) => dotsPattern.test(part))) {
    throw new Refusal(
      'InvalidPath',
      'A name below /.well-known/ must be one or two segments of letters, digits and - . _ ~, ' +
        `${wellKnownNameLengthMax} characters at most, such as ic-domains; got ${quote(text)}.`,
    );
  }
  if (text === serviceTextName) {
    throw new Refusal(
      'InvalidArgument',
      `The canister writes /.well-known/${serviceTextName} by itself: set another name.`,
    );
  }
  return text;
}

const plainNames = ['ic-domains', 'ii-derivation-origin'];

/** Returns the type for a text that is sent without one. */
function defaultType(name: string): string {
  const isPlain = plainNames.includes(name) || name.endsWith('.txt');
  return isPlain ? 'text/plain; charset=utf-8' : 'application/json';
}

function parseContent(name: string, content: NonNullable<WellKnownChange['content']>) {
  const { body } = content;
  if (body.length > wellKnownBytesMax || encodeUtf8(body).length > wellKnownBytesMax) {
    throw new Refusal(
      'EntityTooLarge',
      `A text at /.well-known/ has at most ${wellKnownBytesMax} bytes of UTF-8: send a shorter one.`,
      { limit: wellKnownBytesMax },
    );
  }
  if (body.includes('\0') || !body.isWellFormed()) {
    throw new Refusal('InvalidArgument', 'A text at /.well-known/ must be Unicode without NUL.');
  }
  return { contentType: parseContentType(content.contentType ?? defaultType(name)), body };
}
