// Actor methods for upload links.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import {
  createUploadLink,
  deleteUploadLink,
  listUploadLinks,
  uploadUrls,
} from '../../domain/administration/upload-links.ts';
import { type ApiKey, keyId } from '../../domain/rights/api-keys.ts';
import {
  ResultUploadLink,
  ResultUploadLinks,
  UploadLinkList,
  UploadLinkRequest,
} from '../candid/operations.ts';
import { ResultNull } from '../candid/types.ts';
import { query, update } from '../dispatch/method.ts';
import { numberOf, type Optional, optional } from '../messages/optional.ts';
import { type UploadLinkArgument, uploadLinkRequestOf } from '../messages/upload-link-arguments.ts';
import { answer, currentCall } from '../runtime/call.ts';
import { startUpkeep, stores } from '../runtime/runtime.ts';
import { uploadLimits } from './api-keys.ts';

interface ListArgument {
  bucketId: string;
  cursor: Optional<string>;
  limit: Optional<bigint>;
  apiKey: Optional<string>;
}

function linkView(link: ApiKey) {
  const { id, prefix, creator, createdAtNs, expiresAtNs, bounds } = link;
  const { isPath = false, parent } = bounds ?? {};
  return {
    id,
    path: isPath ? [prefix] : [],
    prefix: isPath ? [] : [prefix],
    createdAt: createdAtNs,
    expiresAt: expiresAtNs,
    ...uploadLimits(link),
    createdBy: Principal.fromUint8Array(creator),
    keyId: parent?.length ? [keyId(parent)] : [],
  };
}

/** Upload links: addresses by which browsers without a key add files. */
export class UploadLinksActor {
  /** Creates an upload link. Only this answer contains its addresses, paths at the canister. */
  @update([UploadLinkRequest], ResultUploadLink)
  createUploadLink(argument: UploadLinkArgument) {
    return answer(() => {
      const { key, secret } = createUploadLink(
        stores,
        currentCall(),
        uploadLinkRequestOf(argument),
      );
      return { id: key.id, ...uploadUrls(key, secret), expiresAt: key.expiresAtNs };
    });
  }

  /** Lists upload links that have not expired: all to owners, their own to other creators. */
  @query([UploadLinkList], ResultUploadLinks)
  listUploadLinks(argument: ListArgument) {
    return answer(() => {
      const { items, nextCursor } = listUploadLinks(stores, currentCall(), {
        bucket: argument.bucketId,
        cursor: argument.cursor[0],
        limit: numberOf(argument.limit),
        apiKey: argument.apiKey[0],
      });
      return { items: items.map(linkView), nextCursor: optional(nextCursor) };
    });
  }

  /** (bucketId, linkId, apiKey) Removes an upload link, which ends its open uploads. */
  @update([IDL.Text, IDL.Text, IDL.Opt(IDL.Text)], ResultNull)
  deleteUploadLink(bucket: string, id: string, [apiKey]: Optional<string>) {
    return answer(() => {
      deleteUploadLink(stores, currentCall(), { bucket, id, apiKey });
      startUpkeep();
      return null;
    });
  }
}
