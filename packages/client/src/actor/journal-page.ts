// Entries of the journal in the reply of `readJournal`. The library decodes an entry in 100 µs, and
// this in 10: a verification reads a hundred thousand of them.

import { IDL } from '@icp-sdk/core/candid';
import { Principal } from '@icp-sdk/core/principal';
import { emptyBytes, encodeHex } from '../bytes/bytes.ts';
import { StorageError } from '../storage-error.ts';
import type { JournalActor, JournalEntry, JournalPage } from '../types/journal.ts';
import { CandidCursor } from './candid-cursor.ts';
import { methodTypes } from './candid-interface.ts';
import { isoTime } from './candid-records.ts';
import type { Result } from './candid-types.ts';

/** Indices of the alternatives of an author, in the order of the hashes of their names. */
const principalIndex = 0;
const keyIndex = 1;
/** Kinds of authors in the first byte of the details to which a block commits. */
const kindBits = { canister: 0, principal: 64, apiKey: 128 } as const;
const digestBit = 32;
const idBytesMax = 31;

let foundHead: Uint8Array | undefined;

/** Returns the types of a page and the index of `ok`, which precede its values. */
function pageHead(): Uint8Array {
  const empty = { ok: { keptDays: 0n, hasMore: false, last: 0n, entries: [] } };
  foundHead ??= IDL.encode([methodTypes('readJournal').result], [empty]).slice(0, -4);
  return foundHead;
}

export function pageIn(reply: Uint8Array): Result<JournalPage> {
  if (pageHead().every((byte, at) => reply[at] === byte)) return { ok: read(reply) };
  const { result } = methodTypes('readJournal');
  const [decoded] = IDL.decode([result], reply) as unknown as [Result<unknown>];
  // Another version of the service may describe the same values by other types
  return 'err' in decoded ? decoded : { ok: read(IDL.encode([result], [decoded])) };
}

function read(reply: Uint8Array): JournalPage {
  const cursor = new CandidCursor(reply, pageHead().length);
  const keptDays = cursor.number();
  const hasMore = cursor.byte() !== 0;
  const last = cursor.number();
  const entries: JournalEntry[] = [];
  for (let left = cursor.number(); left > 0; left--) entries.push(readEntry(cursor));
  return { entries, last, hasMore, keptDays };
}

/** Fields are in the order of the hashes of their names. */
function readEntry(cursor: CandidCursor): JournalEntry {
  const at = isoTime(cursor.bigNumber());
  const { by, id } = readActor(cursor);
  const seq = cursor.number();
  const subject = cursor.text();
  const kind = cursor.text();
  const { version, versionDigits } = readVersion(cursor);
  const digest = cursor.byte() === 0 ? undefined : cursor.text();
  const detailsSalt = readHex(cursor);
  const subjectHash = cursor.byte() === 0 ? undefined : readHex(cursor);
  const subjectSalt = cursor.byte() === 0 ? undefined : readHex(cursor);
  const flag = digest === undefined ? 0 : digestBit;
  const head = encodeHex(Uint8Array.of(kindBits[by.kind] + flag + id.length));
  return {
    ...{ seq, at, kind, by, subject },
    ...(subjectHash === undefined ? partsOf(kind, subject) : { isRedacted: true }),
    ...(version !== undefined && { version }),
    ...(digest !== undefined && { digest }),
    proof: {
      details: head + encodeHex(id) + versionDigits + (digest ?? ''),
      detailsSalt,
      ...(subjectSalt !== undefined && { subjectSalt }),
      ...(subjectHash !== undefined && { subjectHash }),
    },
  };
}

function readHex(cursor: CandidCursor): string {
  return encodeHex(cursor.bytes(cursor.number()));
}

interface ReadActor {
  readonly by: JournalActor;
  /** As the details have it. */
  readonly id: Uint8Array;
}

function readActor(cursor: CandidCursor): ReadActor {
  const alternative = cursor.byte();
  // A principal's bytes follow a 1; the other form, a reference, is never sent
  if (alternative === principalIndex) cursor.byte();
  const hasId = alternative === principalIndex || alternative === keyIndex;
  const id = hasId ? cursor.bytes(cursor.number()) : emptyBytes;
  // Else two entries could have the same details, as a longer id would change the other bits
  if (id.length > idBytesMax) {
    const text = `The id of an author has ${id.length} bytes; it has at most ${idBytesMax}.`;
    throw new StorageError('IntegrityError', text);
  }
  if (!hasId) return { by: { kind: 'canister' }, id };
  if (alternative === keyIndex) {
    return { by: { kind: 'apiKey', id: new TextDecoder().decode(id) }, id };
  }
  return { by: { kind: 'principal', id: principalText(id) }, id };
}

/** Texts of principals by their bytes; few callers make most of the changes. */
const principalTexts = new Map<string, string>();
const principalTextsMax = 100;

function principalText(id: Uint8Array): string {
  const digits = encodeHex(id);
  const known = principalTexts.get(digits);
  if (known !== undefined) return known;
  const text = Principal.fromUint8Array(id).toText();
  if (principalTexts.size < principalTextsMax) principalTexts.set(digits, text);
  return text;
}

/** Returns the version, and its LEB128, which is 0 without one. */
function readVersion(cursor: CandidCursor) {
  if (cursor.byte() === 0) return { version: undefined, versionDigits: '00' };
  const start = cursor.at;
  return { version: cursor.number(), versionDigits: encodeHex(cursor.since(start)) };
}

/** Returns the parts of the subject, which are separated by NUL. */
function partsOf(kind: string, subject: string): Partial<JournalEntry> {
  const [first = '', second] = subject.split('\0');
  const [thing] = kind.split('.');
  switch (thing) {
    case 'file':
    case 'version':
    case 'hold':
    case 'thumbnail':
      return { path: first, ...(second !== undefined && { formerPath: second }) };
    case 'link':
      return { path: first, linkId: second };
    case 'key':
      return { keyId: first };
    case 'member':
      return { member: Principal.fromHex(first).toText(), ...(second && { role: second }) };
    default:
      return kind === 'bucket.changed' ? { settings: subject.split('\0') } : {};
  }
}
