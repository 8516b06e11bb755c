// Actor methods over links.

import { IDL } from '@dfinity/candid';
import { createLink, deleteLink, listLinks } from '../domain/files/link-access.ts';
import { answer, currentCall } from './call.ts';
import { ResultNull } from './candid.ts';
import { LinkList, LinkRequest, ResultLink, ResultLinks } from './candid-operations.ts';
import { type LinkArgument, linkRequestOf } from './link-arguments.ts';
import { query, update } from './method.ts';
import { stores } from './runtime.ts';

type Optional<T> = [] | [T];

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
    const [limit] = argument.limit;
    return answer(() => {
      const { items, nextCursor } = listLinks(stores, currentCall(), {
        bucket: argument.bucketId,
        path: argument.path[0],
        cursor: argument.cursor[0],
        limit: limit === undefined ? undefined : Number(limit),
        apiKey: argument.apiKey[0],
      });
      const shown = items.map(({ id, path, name, createdAtNs, expiresAtNs }) => {
        return { id, path, name, createdAt: createdAtNs, expiresAt: optionalTime(expiresAtNs) };
      });
      const cursor: Optional<string> = nextCursor === null ? [] : [nextCursor];
      return { items: shown, nextCursor: cursor };
    });
  }

  @update([IDL.Text, IDL.Text, IDL.Opt(IDL.Text)], ResultNull)
  deleteLink(bucket: string, id: string, [apiKey]: Optional<string>) {
    return answer(() => {
      deleteLink(stores, currentCall(), { bucket, id, apiKey });
      return null;
    });
  }
}
