// How a bucket is end-to-end, over HTTP: by an update, since whoever answers alone could name
// recipients of its own.

import type { BucketEpoch, EndToEndRecord } from './end-to-end-records.ts';
import { exchangeJson, type HttpConnection } from './http-exchange.ts';
import { bucketPath } from './http-paths.ts';
import type { Signal } from './transport.ts';

interface Answer {
  readonly endToEnd: (Omit<EndToEndRecord, 'serial' | 'epochs'> & { epoch?: BucketEpoch }) | null;
}

export async function getEndToEnd(
  connection: HttpConnection,
  bucket: string,
  signal: Signal,
): Promise<EndToEndRecord | undefined> {
  const request = { method: 'GET', path: `${bucketPath(bucket)}/end-to-end`, signal };
  const { endToEnd } = await exchangeJson<Answer>(connection, request);
  // What belongs to identities is for who signs alone.
  return endToEnd ? { ...endToEnd, serial: '', epochs: [endToEnd.epoch ?? []].flat() } : undefined;
}
