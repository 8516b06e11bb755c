// The overview: the caller's buckets and the state of the service.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { outOfUseCodes } from '../../../packages/client/src/connection/network-errors.ts';
import { isStorageError } from '../../../packages/client/src/storage-error.ts';
import type { BucketRecord } from '../../../packages/client/src/types/buckets.ts';
import type { Usage } from '../../../packages/client/src/types/listings.ts';
import type { ServiceStatus } from '../../../packages/client/src/types/service.ts';
import { sentenceOf } from '../failures.ts';
import { texts } from '../language.ts';
import { CopyText } from '../parts/copy-text.tsx';
import { deferred } from '../parts/deferred.tsx';
import { Failure } from '../parts/failure.tsx';
import { FillBar } from '../parts/fill-bar.tsx';
import { Icon } from '../parts/icon.tsx';
import { addressOf } from '../route.ts';
import type { Session } from '../session.ts';
import { sizeOf } from '../words.ts';
import { AddBucket } from './add-bucket.tsx';

const ServiceState = deferred(async () => (await import('./service-state.tsx')).ServiceState);

interface Shown {
  readonly id: string;
  readonly usage?: Usage | undefined;
  /** Present for members. */
  readonly record?: BucketRecord | undefined;
}

/** Adds the buckets that are found to `found`, also if a volume of the service fails. */
async function findBuckets({ storage, buckets }: Session, found: Shown[]): Promise<void> {
  if (buckets !== undefined) {
    const ofKey = await Promise.all(
      buckets.map(async (id) => {
        const usage = await storage.usage({ bucket: id }).catch((error) => {
          // A key that may only write cannot read the usage.
          if (isStorageError(error) && outOfUseCodes.has(error.code)) throw error;
          return undefined;
        });
        return { id, usage };
      }),
    );
    found.push(...ofKey);
    return;
  }
  for await (const record of storage.buckets.list()) {
    const { id, fileCount: files, byteCount: bytes } = record;
    found.push({ id, usage: { files, bytes }, record });
  }
}

export function Overview({ session }: { session: Session }) {
  const found = useSignal<readonly Shown[] | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  async function load(): Promise<void> {
    failure.value = undefined;
    const buckets: Shown[] = [];
    try {
      await findBuckets(session, buckets);
      found.value = buckets;
    } catch (error) {
      if (buckets.length > 0) found.value = buckets;
      failure.value = sentenceOf(error);
    }
  }
  const { overview: words } = texts();
  useEffect(() => void load(), [session]);
  const { value: status } = useStatus(session);
  return (
    <div class="page overview">
      <h1 tabIndex={-1}>{words.title}</h1>
      <Failure text={failure.value} onRetry={() => void load()} />
      {found.value === undefined && failure.value === undefined && (
        <p class="waiting">{words.loading}</p>
      )}
      {found.value !== undefined && <Buckets buckets={found.value} />}
      {found.value?.length === 0 && <p>{words.none}</p>}
      <AddBucket session={session} onAdded={() => void load()} />
      {status && <ServiceState status={status} />}
      {session.principal !== undefined && (
        <Principal session={session} principal={session.principal} />
      )}
    </div>
  );
}

/** Without the status, the rest of the page still works. */
function useStatus({ storage }: Session) {
  const status = useSignal<ServiceStatus | undefined>(undefined);
  useEffect(() => {
    storage.status().then(
      (found) => {
        status.value = found;
      },
      () => {},
    );
  }, [storage]);
  return status;
}

function Buckets({ buckets }: { buckets: readonly Shown[] }) {
  const { overview: words } = texts();
  return (
    <ul class="cards">
      {buckets.map(({ id, usage, record }) => (
        <li key={id} class="card">
          <a class="bucket-link" href={addressOf({ view: 'files', bucket: id, prefix: '' })}>
            <Icon name="bucket" />
            <bdi>{id}</bdi>
          </a>
          <p>{usage ? words.amount(usage.files, sizeOf(usage.bytes)) : words.unknown}</p>
          {usage && record?.quotaBytes && <Filling usage={usage} quota={record.quotaBytes} />}
          {record && (
            <p class="quiet">{words.readers(record.isPublic, record.endToEnd !== undefined)}</p>
          )}
        </li>
      ))}
    </ul>
  );
}

function Filling({ usage: { bytes }, quota }: { usage: Usage; quota: number }) {
  const share = bytes / quota;
  const label = texts().overview.shareOfQuota(Math.round(share * 100), sizeOf(quota));
  return (
    <>
      <FillBar share={share} isLow={share > 0.9} label={label} />
      <p class="quiet">{label}</p>
    </>
  );
}

function Principal({ session, principal }: { session: Session; principal: string }) {
  const { overview: words, copying } = texts();
  return (
    <section class="card">
      <h2>{session.kind === 'device' ? words.device : words.you}</h2>
      <CopyText text={principal} label={copying.principal} />
      <p>{words.command}</p>
      <CopyText
        text={`efs member add <bucket> ${principal} --role writer`}
        label={copying.ownersCommand}
      />
    </section>
  );
}
