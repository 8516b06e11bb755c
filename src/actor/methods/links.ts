// Actor methods for links.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { downloadsOf } from '../../domain/files/link-downloads.ts';
import type { Link } from '../../domain/files/link-layout.ts';
import { createLink, deleteLink, listLinks } from '../../domain/files/links.ts';
import { keyId } from '../../domain/rights/api-keys.ts';
import { linkPageOf } from '../../domain/shared/role-record.ts';
import { LinkList, LinkRequest, ResultLink, ResultLinks } from '../candid/operations.ts';
import { ResultNull } from '../candid/types.ts';
import { query, update } from '../dispatch/method.ts';
import { type LinkArgument, linkRequestOf } from '../messages/link-arguments.ts';
import { numberOf, type Optional, optional } from '../messages/optional.ts';
import { answer, currentCall } from '../runtime/call.ts';
import { stores } from '../runtime/runtime.ts';

interface ListArgument {
  bucketId: string;
  path: Optional<string>;
  cursor: Optional<string>;
  limit: Optional<bigint>;
  apiKey: Optional<string>;
}

function optionalTime(timeNs: bigint): Optional<bigint> {
  return timeNs === 0n ? [] : [timeNs];
}

function boundsView({ sealedSecret, limit, title }: Link) {
  return {
    title: optional(title),
    hasPassword: sealedSecret ? [true] : [],
    maxDownloads: limit ? [BigInt(limit.downloadsMax)] : [],
  };
}

function linkView(link: Link, isMakerShown: boolean) {
  const { id, path, name, createdAtNs, expiresAtNs, maker, keyHash, limit } = link;
  const isByKey = keyHash.length > 0;
  return {
    id,
    path,
    name,
    createdAt: createdAtNs,
    expiresAt: optionalTime(expiresAtNs),
    maker: isMakerShown ? [Principal.fromUint8Array(maker)] : [],
    keyId: isMakerShown && isByKey ? [keyId(keyHash)] : [],
    ...boundsView(link),
    downloadCount: limit ? [BigInt(downloadsOf(limit))] : [],
  };
}

/** Links: addresses by which anybody can read one file, private or not. */
export class LinksActor {
  /** Creates a link. Only this answer contains its `url`, a path at the canister's origin. */
  @update([LinkRequest], ResultLink)
  createLink(argument: LinkArgument) {
    return answer(() => {
      const { link, url } = createLink(stores, currentCall(), linkRequestOf(argument));
      const linkPage = optional(linkPageOf(stores));
      const expiresAt = optionalTime(link.expiresAtNs);
      return { id: link.id, url, expiresAt, linkPage, ...boundsView(link) };
    });
  }

  /** Lists links that have not expired, by path. */
  @query([LinkList], ResultLinks)
  listLinks(argument: ListArgument) {
    return answer(() => {
      const page = listLinks(stores, currentCall(), {
        bucket: argument.bucketId,
        path: argument.path[0],
        cursor: argument.cursor[0],
        limit: numberOf(argument.limit),
        apiKey: argument.apiKey[0],
      });
      const items = page.items.map((link) => linkView(link, page.areMakersShown));
      return { items, nextCursor: optional(page.nextCursor) };
    });
  }

  /** (bucketId, linkId, apiKey) Removes a link, which stops working at once. */
  @update([IDL.Text, IDL.Text, IDL.Opt(IDL.Text)], ResultNull)
  deleteLink(bucket: string, id: string, [apiKey]: Optional<string>) {
    return answer(() => {
      deleteLink(stores, currentCall(), { bucket, id, apiKey });
      return null;
    });
  }
}
