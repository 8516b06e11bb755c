// Converts entries of the journal to their Candid form.

import { Principal } from '@dfinity/principal';
import type { Actor } from '../../domain/journal/bucket-journal.ts';
import type { ProvedEntry } from '../../domain/journal/opened-entries.ts';
import { encodeHex } from '../../lib/hex.ts';
import { decodeUtf8 } from '../../lib/text.ts';

function actorView({ kind, id }: Actor) {
  if (kind === 'principal') return { principal: Principal.fromUint8Array(id) };
  return kind === 'key' ? { apiKey: decodeUtf8(id) ?? '' } : { canister: null };
}

export function entryView(entry: ProvedEntry) {
  const { seq, atNs, kind, actor, subject, version, digest, salts } = entry;
  const { subjectHash } = entry;
  return {
    seq,
    at: atNs,
    kind,
    by: actorView(actor),
    subject,
    version: version === 0 ? [] : [version],
    digest: digest.length === 0 ? [] : [encodeHex(digest)],
    proof: {
      detailsSalt: salts.details,
      subjectSalt: subjectHash === undefined ? [salts.subject] : [],
      subjectHash: subjectHash === undefined ? [] : [subjectHash],
    },
  };
}
