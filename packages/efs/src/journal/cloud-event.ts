// Entries of the journal in the JSON format of CloudEvents 1.0.

import type { ServiceStorage } from '../../../client/src/service-storage.ts';
import type { Storage } from '../../../client/src/storage.ts';
import type { JournalEntry } from '../../../client/src/types/journal.ts';
import type { Run } from '../config/run.ts';

interface Place {
  readonly canisterId: string;
  readonly bucket: string;
}

export const cloudEventType = 'application/cloudevents+json; charset=UTF-8';

/** Source and id together are unique, as the specification requires. */
export function cloudEventOf({ canisterId, bucket }: Place, entry: JournalEntry): object {
  const { seq, at, kind, subject: _, proof: __, ...data } = entry;
  return {
    specversion: '1.0',
    id: String(seq),
    source: `efs://${canisterId}/${bucket}`,
    type: `efs.${kind}`,
    time: at,
    subject: data.path ?? data.keyId ?? data.member ?? bucket,
    datacontenttype: 'application/json',
    data,
  };
}

/** Returns the canister that has the bucket. */
export async function canisterOf(run: Run, storage: Storage, bucket: string): Promise<string> {
  if ('volumeOf' in storage) return (storage as ServiceStorage).volumeOf(bucket);
  return run.canisterId ?? '';
}
