// GET of a bucket's journal: `/api/v1/bucket/{bucket}/journal?after=&before=&limit=`.

import { Principal } from '@dfinity/principal';
import { isoTime } from '../domain/files/file-view.ts';
import type { Actor } from '../domain/journal/bucket-journal.ts';
import { readJournal } from '../domain/journal/journal-reading.ts';
import { type OpenedEntry, openedEntries } from '../domain/journal/opened-entries.ts';
import { emptyBytes } from '../lib/bytes.ts';
import { encodeHex } from '../lib/hex.ts';
import { decodeUtf8 } from '../lib/text.ts';
import { bucketRoute } from './authorization.ts';
import type { HttpResponse } from './message.ts';
import { parseCount, readQuery } from './query.ts';
import { privateJson } from './respond.ts';
import type { Exchange } from './router.ts';

export function getBucketJournal(exchange: Exchange): HttpResponse {
  const { stores, call, request } = exchange;
  const read = readQuery(request, ['after', 'before', 'limit']);
  const { entries, ...rest } = readJournal(stores, call, {
    ...bucketRoute(exchange),
    after: parseCount(read.after),
    before: parseCount(read.before),
    limit: parseCount(read.limit),
    kinds: emptyBytes,
  });
  return privateJson(200, { items: openedEntries(entries).map(shownEntry), ...rest });
}

function shownEntry({ seq, atNs, kind, actor, version, digest, ...entry }: OpenedEntry) {
  return {
    seq,
    at: isoTime(atNs),
    kind,
    by: shownActor(actor),
    ...(entry.isRedacted ? { isRedacted: true } : { subject: entry.subject }),
    ...(version !== 0 && { version }),
    ...(digest.length > 0 && { digest: encodeHex(digest) }),
  };
}

function shownActor({ kind, id }: Actor) {
  if (kind === 'principal') return { kind, id: Principal.fromUint8Array(id).toText() };
  return kind === 'key' ? { kind: 'apiKey', id: decodeUtf8(id) ?? '' } : { kind };
}
