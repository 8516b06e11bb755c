// Operations of the models on links, by the owner, by keys, and by anybody with an address.

import { expect } from 'vitest';
import { entityTag, readFile } from '../../src/domain/files/file-records.ts';
import { endLinks, linkBytesOf } from '../../src/domain/files/link-records.ts';
import {
  createLink,
  deleteLink,
  type LinkAddress,
  listLinks,
  withLinkedFile,
} from '../../src/domain/files/links.ts';
import type { RefusalCode } from '../../src/domain/shared/refusal.ts';
import { callOf, expectRefusal, hourNs } from './domain-fixture.ts';
import { expectSameBytes } from './expect-same.ts';
import {
  canAddLink,
  endReferenceLinks,
  isOpen,
  keyCode,
  linkEnd,
  linksBelow,
  listedPrefix,
  partsOf,
  type ReferenceLink,
} from './model-link-reference.ts';
import { exceedsQuota, type ReferenceBucket, type ReferenceFile } from './model-reference.ts';
import {
  type Answer,
  attempt,
  callNow,
  oneOf,
  type Run,
  someBucket,
  somePath,
  withoutWrites,
} from './model-run.ts';

/** Returns a path, often that of a file with links. */
function someLinkedPath(run: Run, bucket: ReferenceBucket): string {
  const linked = run.random(2) === 0 ? bucket.links.at(-1) : undefined;
  return linked?.path ?? somePath(run, bucket);
}

/** Creates one link, or sometimes nine links of one file. */
export function makeLinks(run: Run): Answer {
  const bucket = someBucket(run);
  const path = someLinkedPath(run, bucket);
  const count = oneOf(run, [1, 1, 9]);
  const answers = Array.from({ length: count }, () => makeLink(run, bucket, path));
  return answers.find((answer) => answer !== undefined);
}

function makeLink(run: Run, bucket: ReferenceBucket, path: string): Answer {
  const { reference, model, key } = run;
  const lasts = oneOf(run, [undefined, undefined, 1n, hourNs, 20n * hourNs, 20n * hourNs]);
  const expiresAtNs = run.random(30) === 0 ? reference.nowNs : lasts && reference.nowNs + lasts;
  const downloadName = oneOf(run, [undefined, undefined, 'Ü.txt', run.random(9) ? 'b' : 'a/b']);
  const name = downloadName ?? path.slice(path.lastIndexOf('/') + 1);
  const expiresAt = linkEnd(expiresAtNs ?? 0n, key);
  const etag = bucket.files.get(path)?.etag ?? '';
  const sized = { downloadName: downloadName ?? '', partCount: partsOf(etag) };
  const made = { name, expiresAt, key, path, id: '', secret: '', ...sized };
  const bytes = linkBytesOf({ ...made, bucketId: bucket.id });
  const isFull = exceedsQuota(reference, bucket, { files: 0, bytes });
  const isOdd = expiresAtNs === reference.nowNs || name.includes('/');
  const room = canAddLink(bucket, made, reference.nowNs) && !isFull ? undefined : 'QuotaExceeded';
  const missing = bucket.files.has(path) ? undefined : 'NoSuchFile';
  const denied = keyCode(key, [['read', bucket.id, path]]);
  return attempt(run, denied ?? missing ?? (isOdd ? 'InvalidArgument' : room), () => {
    const request = { bucket: bucket.id, path, expiresAtNs, downloadName, apiKey: key?.secret };
    const { link, url } = createLink(model.current(), callNow(run), request);
    const [, address = '', secret = ''] = /^(.*)\?k=(.*)$/.exec(url) ?? [];
    expect(address).toBe(`/s/${link.id}/${encodeURIComponent(name)}`);
    const added = { ...made, id: link.id, secret };
    bucket.links.push(added);
    reference.madeLinks.push(added);
  });
}

/** Returns the present file of the address, if there is one. */
function linkedFile({ reference }: Run, address: LinkAddress): ReferenceFile | undefined {
  for (const { links, files } of reference.buckets) {
    const link = links.find(({ id }) => id === address.id);
    const isRight = link?.name === address.name && link.secret === address.secret;
    if (link !== undefined && isRight && isOpen(link, reference.nowNs)) return files.get(link.path);
  }
  return undefined;
}

/** Opens an address that was created before, or a similar one. */
export function openLink(run: Run): Answer {
  const { reference, model } = run;
  const places = reference.buckets.flatMap(({ links }) => links);
  const made = oneOf(run, [places, places, reference.madeLinks]);
  const [link, other] = [oneOf(run, made), oneOf(run, reference.madeLinks)];
  if (link === undefined || other === undefined) return 'none';
  const { id, name, secret } = link;
  const right = { id, name, secret };
  const address = oneOf(run, [
    ...[right, right, right, { ...right, secret: '' }, { ...right, name: `${name}.` }],
    ...[
      { ...right, secret: other.secret },
      { ...right, id: other.id },
    ],
  ]);
  const file = linkedFile(run, address);
  const code: RefusalCode | undefined = file === undefined ? 'NoSuchFile' : undefined;
  return attempt(run, code, () => {
    const stores = model.current();
    const open = () =>
      withLinkedFile(stores, callOf('anonymous', reference.nowNs), address, (opened) =>
        readFile(stores, opened, { start: 0, end: opened.file.size }),
      );
    expectSameBytes(withoutWrites(run, open), file?.bytes ?? new Uint8Array(0));
  });
}

/** Lists all pages, without links that are no longer shown. */
export function listAllLinks(run: Run): Answer {
  const { reference, model, key } = run;
  const bucket = someBucket(run);
  const path = oneOf(run, [undefined, undefined, 'a/f1', 'a/f1', someLinkedPath(run, bucket)]);
  const prefix = path ?? listedPrefix(key, '');
  const limit = oneOf(run, [1, 3, 1_000]);
  return attempt(run, keyCode(key, [['read', bucket.id, prefix]]), () => {
    const isMeant = (name: string) =>
      path === undefined ? name.startsWith(prefix) : name === path;
    const stored = linksBelow(bucket, isMeant);
    const shown: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const request = { bucket: bucket.id, path, limit, cursor, apiKey: key?.secret };
      const list = () => listLinks(model.current(), callNow(run), request);
      const { items, nextCursor } = withoutWrites(run, list);
      shown.push(...items.map((link) => `${link.path} ${link.id} ${link.expiresAtNs}`));
      cursor = nextCursor ?? undefined;
      pages += 1;
    } while (cursor !== undefined);
    const open = stored.filter((link) => isOpen(link, reference.nowNs));
    expect(shown).toEqual(open.map(({ path, id, expiresAt }) => `${path} ${id} ${expiresAt}`));
    expect(pages).toBe(Math.max(1, Math.ceil(stored.length / limit)));
  });
}

/** Removes a link of the bucket, or tries a link that may be gone or of another bucket. */
export function removeSomeLink(run: Run): Answer {
  const { reference, model, key } = run;
  const bucket = someBucket(run);
  const link = oneOf(run, run.random(4) === 0 ? reference.madeLinks : bucket.links);
  if (link === undefined) return 'none';
  return attempt(run, removalCode(run, bucket, link), () => {
    const request = { bucket: bucket.id, id: link.id, apiKey: key?.secret };
    deleteLink(model.current(), callNow(run), request);
    bucket.links = bucket.links.filter((one) => one !== link);
  });
}

function removalCode(
  { key }: Run,
  bucket: ReferenceBucket,
  link: ReferenceLink,
): RefusalCode | undefined {
  const denied = keyCode(key, [['read', bucket.id, key?.prefix ?? '']]);
  if (denied !== undefined) return denied;
  const isThere = bucket.links.includes(link) && link.path.startsWith(key?.prefix ?? '');
  if (!isThere) return 'NoSuchFile';
  const isOwn = key === undefined || key === link.key || key.permissions.includes('delete');
  return isOwn ? undefined : 'AccessDenied';
}

/** Removes, step by step, the links that upkeep removes; returns their number. */
export function endLinksOfBoth({ model, reference }: Run): number {
  const stores = model.current();
  let before: number;
  do {
    before = stores.writeCount();
    endLinks(stores, reference.nowNs);
  } while (stores.writeCount() > before);
  return reference.buckets.reduce(
    (sum, bucket) => sum + endReferenceLinks(bucket, reference.nowNs),
    0,
  );
}

/** Every link ever created must open the present version of its file, or nothing. */
export function checkLinksOpen(run: Run): void {
  const { model, reference } = run;
  const anybody = callOf('anonymous', reference.nowNs);
  for (const link of reference.madeLinks) {
    const file = linkedFile(run, link);
    const open = () =>
      withLinkedFile(model.current(), anybody, link, (opened) => ({
        shown: `${opened.file.path} ${opened.file.version} ${entityTag(opened.file)}`,
      }));
    if (file === undefined) expectRefusal(model.current(), 'NoSuchFile', open);
    else expect(open().shown).toBe(`${file.path} ${file.version} ${file.etag}`);
  }
}
