// GET of a bucket's end-to-end mode: `/api/v1/bucket/{bucket}/end-to-end`.

import { endToEndFor } from '../domain/administration/bucket-administration.ts';
import { isoTime } from '../domain/files/file-view.ts';
import { bucketRoute } from './authorization.ts';
import { privateJson } from './respond.ts';
import { type Answer, type Exchange, upgrade } from './router.ts';

/**
 * Answers by an update. Gateways also accept a single node's answer, so clients that can verify
 * signatures call getBucketMode instead.
 */
export function getEndToEnd(exchange: Exchange): Answer {
  const { stores, call } = exchange;
  const endToEnd = endToEndFor(stores, call, bucketRoute(exchange));
  if (exchange.phase === 'query') return upgrade;
  const newest = endToEnd?.epochs.at(-1);
  const shown = endToEnd && {
    usesVetKeys: endToEnd.usesVetKeys,
    sealsNames: endToEnd.sealsNames,
    recipients: endToEnd.recipients,
    epoch: newest && {
      epoch: newest.epoch,
      recipient: newest.recipient ?? null,
      openedAt: isoTime(newest.openedAtNs),
    },
    encryptTo: [newest?.recipient, ...endToEnd.recipients].filter((one) => one !== undefined),
  };
  return privateJson(200, { endToEnd: shown ?? null });
}
