// Certification of the domain's changes: the tree of all answers that gateways can verify; its root
// is the canister's certified data.

import { certifiedDataSet } from 'azle';
import { joinedPartsMax } from '../../../packages/wire/src/limits.ts';
import type { CertifiedFile } from '../../certification/certified-file.ts';
import { openCertifiedSite } from '../../certification/certified-site.ts';
import { type FixedAnswer, openFixedTrees } from '../../certification/fixed-answers.ts';
import { besideJournal, tipWitness } from '../../certification/journal-tip.ts';
import { openSiteProofs } from '../../certification/site-proofs.ts';
import { sha256 } from '../../crypto/hash.ts';
import { replacePageAddresses } from '../../domain/administration/console-pages.ts';
import { publicAddresses } from '../../domain/administration/public-addresses.ts';
import { findWellKnown } from '../../domain/administration/well-known.ts';
import { allBuckets } from '../../domain/buckets/buckets.ts';
import { forgetPublicBuckets, notePublic } from '../../domain/buckets/public-buckets.ts';
import { startRenewal } from '../../domain/files/renewal-progress.ts';
import { publishMissing } from '../../domain/files/site-publication.ts';
import { mayHaveSite } from '../../domain/files/sites.ts';
import type { Publication } from '../../domain/shared/publication.ts';
import { isFront } from '../../domain/shared/role-record.ts';
import type { Stores } from '../../domain/shared/stores.ts';
import { bucketRedirect } from '../../http/bucket-redirects.ts';
import { answerOfText, type CertifiedText } from '../../http/certified-text.ts';
import { linkHeaders, ownHeaders, servedHeaders } from '../../http/file-headers.ts';
import type { AnsweredContent, ServedHeaders, SiteAnswer } from '../../http/message.ts';
import { missingResponse } from '../../http/missing.ts';
import type { Page } from '../../http/page.ts';
import { pagesOf, servicePage } from '../../http/pages.ts';
import { formerPreflightResponse, preflightResponse } from '../../http/preflight.ts';
import { replyFace } from '../../http/sites.ts';
import { wellKnownText } from '../../http/well-known.ts';
import { present } from '../../lib/assert.ts';
import { bytesEqual, concatBytes } from '../../lib/bytes.ts';
import { encodeUtf8 } from '../../lib/text.ts';
import { openLabelTree } from '../../storage/label-tree.ts';
import { spaceIds } from '../../storage/memory.ts';
import { journalLog, takeJournalChange } from './journal.ts';

const digestBytes = 32;

export function fixedAnswer({ status, headers, body, bodyDigest }: SiteAnswer): FixedAnswer {
  return { status, headers, bodyDigest: bodyDigest ?? sha256(body) };
}

const fixed = openFixedTrees(() => ({
  notFound: fixedAnswer(missingResponse()),
  preflight: fixedAnswer(preflightResponse),
  formerPreflight: fixedAnswer(formerPreflightResponse),
}));
const published = openLabelTree(spaceIds.labels, 0);
const site = openCertifiedSite({ published, hiddenTree: openLabelTree(spaceIds.labels, 1), fixed });

/** Root of the journal's end in the certified tree; `undefined` while the journal is empty. */
let beside: Uint8Array | undefined;
let hasEntries = false;

export const proofs = openSiteProofs({
  published: besideJournal(published, () => beside),
  fixed,
});

/** Proves the end of the journal; `undefined` while it is empty. */
export function proveTip(): Uint8Array | undefined {
  const tip = journalLog.tip();
  return tip.last === 0 ? undefined : tipWitness(published.hash(), tip);
}

/** `partDigest`: returns the SHA-256 of a chunk; called only for files of several chunks. */
export function certifiedFileOf(
  file: Omit<AnsweredContent, 'contentId'>,
  { validators, representation, thumbnail }: ServedHeaders,
  partDigest: (index: number) => Uint8Array,
): CertifiedFile {
  const [, etag] = present(validators[0], 'entity tag');
  return {
    etag,
    validators,
    headers: representation,
    size: file.size,
    partSize: file.chunkSize,
    partCount: file.chunkCount,
    isJoined: file.chunkCount <= joinedPartsMax,
    thumbnail,
    partDigest: (index) => (file.chunkCount <= 1 ? file.digest : partDigest(index)),
  };
}

export const publication: Publication = {
  put(file, chunkDigests) {
    const digestOf = (index: number) =>
      chunkDigests.subarray(index * digestBytes, (index + 1) * digestBytes);
    site.putFile(file, certifiedFileOf(file, ownHeaders(file), digestOf), chunkDigests);
  },
  remove: (file) => site.removeFile(file),
  show: (bucketId, isPublic) => site.showBucket(bucketId, isPublic),
  putLink(link, file, chunkDigests) {
    const digestOf = (index: number) =>
      chunkDigests.subarray(index * digestBytes, (index + 1) * digestBytes);
    const certified = certifiedFileOf(file, linkHeaders(file, link), digestOf);
    site.putLink(link.id, certified, chunkDigests);
  },
  putLinkUpdate: (id) => site.putLinkUpdate(id),
  removeLink: (id) => site.removeLink(id),
  putSiteFile(at, file, digests) {
    const digestOf = (index: number) =>
      digests.subarray(index * digestBytes, (index + 1) * digestBytes);
    site.putSiteFile(at, { file: certifiedFileOf(file, servedHeaders(file), digestOf), digests });
  },
  putSiteReply(at, reply) {
    if (reply.kind === 'update') site.putSiteAnswer(at, reply.kind);
    else if (reply.kind === 'redirect' && reply.proof) site.putSiteProof(at, reply.proof);
    else site.putSiteAnswer(at, fixedAnswer(replyFace(reply)));
  },
  siteProof: (redirect) => site.siteProof(fixedAnswer(replyFace(redirect))),
  removeSite: (at) => site.removeSiteAddress(at),
  removeBucket: (bucketId) => site.removeBucket(bucketId),
  putText: (text) => putText(wellKnownText(text)),
  removeText: (name) => site.removeText(`/.well-known/${name}`),
  putAddress: (to) => site.putAddress(to.bucketId, fixedAnswer(bucketRedirect(to))),
  removeAddress: (bucketId) => site.removeAddress(bucketId),
};

function putText(text: CertifiedText): void {
  const { address, content, served } = answerOfText(text);
  site.putText(
    address,
    certifiedFileOf(content, served, () => content.digest),
  );
}

/** Certifies the pages of this version and role and removes the former ones. */
export function publishPages(stores: Stores): void {
  const pages = pagesOf(stores).filter(({ address }) => !isSetByController(stores, address));
  const addresses = pages.map(({ address }) => address);
  for (const address of replacePageAddresses(stores, addresses)) {
    if (!isSetByController(stores, address)) site.removeText(address);
  }
  for (const { text } of pages) putText(text);
  publishVolumes(stores, servicePage(stores));
}

/** Certifies the list of volumes again, for gateways and for clients that call the actor. */
export function publishService(stores: Stores): void {
  const page = servicePage(stores);
  putText(page.text);
  publishVolumes(stores, page);
}

/** `page`: the service's page. */
function publishVolumes(stores: Stores, page: Page): void {
  if (isFront(stores)) site.putVolumes(page.body());
}

function isSetByController(stores: Stores, address: string): boolean {
  const [, name] = address.split('/.well-known/');
  return name !== undefined && findWellKnown(stores, name) !== undefined;
}

/**
 * Sets up the tree at install and upgrade; certified files stay. Renews the entries of each bucket
 * that another version wrote: at most 10,000 buckets with a million instructions each, and at a
 * front at most 16,000 redirects.
 */
export function setUpPublication(stores: Stores): void {
  hasEntries = journalLog.tip().last > 0;
  site.setUp({ hasUncertified: !isFront(stores) });
  const { hash } = fixed().outermost('not-found');
  const mark = concatBytes(Uint8Array.of(markVersion), hash);
  const former = stores.meta.get(encodeUtf8(markKey));
  if (former === undefined || !bytesEqual(former, mark)) {
    renewEntries(stores);
    stores.meta.set(encodeUtf8(markKey), mark);
  }
  publishPages(stores);
  publishRoot();
}

function renewEntries(stores: Stores): void {
  forgetPublicBuckets(stores);
  for (const bucket of allBuckets(stores)) {
    site.renewBucket(bucket.id, bucket.isPublic);
    if (bucket.isPublic) notePublic(stores, bucket.id, true);
    if (mayHaveSite(bucket)) publishMissing(stores, bucket);
    if (bucket.isSite) startRenewal(stores, bucket.id);
  }
  for (const address of publicAddresses(stores)) publication.putAddress(address);
}

// In the meta map: version 3 | hash of the subtree for missing paths in public buckets
const markVersion = 3;
const markKey = 'siteMark';

/** Publishes the root at the end of every message that may have changed it. */
export function publishRoot(): void {
  const hasNewEntries = takeJournalChange();
  const changed = site.takeChangedRoot();
  if (changed === undefined && !hasNewEntries) return;
  const root = changed ?? published.hash();
  hasEntries ||= hasNewEntries;
  if (hasEntries) beside = journalLog.addTip(root);
  certifiedDataSet(root);
}
