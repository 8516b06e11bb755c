// Actor methods over links.

import { IDL } from '@dfinity/candid';
import { createLink, deleteLink, listLinks } from '../domain/files/link-access.ts';
import { answer, currentCall } from './call.ts';
import { ResultNull } from './candid.ts';
import { LinkList, LinkRequest, ResultLink, ResultLinks } from './candid-operations.ts';
import { type LinkArgument, linkRequestOf } from './link-arguments.ts';
import { query, update } from './method.ts';
import { numberOf, type Optional, optional } from './optional.ts';
import { stores } from './runtime.ts';

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

/** Links: addresses by which anybody reads one file, private or not. */
export class LinksActor {
  /** The address is in this answer and nowhere else; it is below the canister's. */
  @update([LinkRequest], ResultLink)
  createLink(argument: LinkArgument) {
    return answer(() => {
      const { link, url } = createLink(stores, currentCall(), linkRequestOf(argument));
      return { id: link.id, url, expiresAt: optionalTime(link.expiresAtNs) };
    });
  }

  /** Those that are good, by path. */
  @query([LinkList], ResultLinks)
  listLinks(argument: ListArgument) {
    return answer(() => {
      const { items, nextCursor } = listLinks(stores, currentCall(), {
        bucket: argument.bucketId,
        path: argument.path[0],
        cursor: argument.cursor[0],
        limit: numberOf(argument.limit),
        apiKey: argument.apiKey[0],
      });
      const shown = items.map(({ id, path, name, createdAtNs, expiresAtNs }) => {
        return { id, path, name, createdAt: createdAtNs, expiresAt: optionalTime(expiresAtNs) };
      });
      return { items: shown, nextCursor: optional(nextCursor) };
    });
  }

  /** (bucketId, linkId, apiKey) From now on nobody reads by it. */
  @update([IDL.Text, IDL.Text, IDL.Opt(IDL.Text)], ResultNull)
  deleteLink(bucket: string, id: string, [apiKey]: Optional<string>) {
    return answer(() => {
      deleteLink(stores, currentCall(), { bucket, id, apiKey });
      return null;
    });
  }
}
