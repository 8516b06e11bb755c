// The overview: the caller's buckets and the state of the service.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { outOfUseCodes } from '../../../packages/client/src/connection/network-errors.ts';
import { isStorageError } from '../../../packages/client/src/storage-error.ts';
import type { BucketRecord } from '../../../packages/client/src/types/buckets.ts';
import type { Usage } from '../../../packages/client/src/types/listings.ts';
import { sentenceOf } from '../failures.ts';
import { CopyText } from '../parts/copy-text.tsx';
import { Failure } from '../parts/failure.tsx';
import { FillBar } from '../parts/fill-bar.tsx';
import { Icon } from '../parts/icon.tsx';
import { addressOf } from '../route.ts';
import type { Session } from '../session.ts';
import { counted, sizeOf } from '../words.ts';
import { AddBucket } from './add-bucket.tsx';
import { ServiceState } from './service-state.tsx';

interface Shown {
  readonly id: string;
  readonly usage?: Usage | undefined;
  /** Present for members. */
  readonly record?: BucketRecord | undefined;
}

async function bucketsOf({ storage, buckets }: Session): Promise<Shown[]> {
  if (buckets !== undefined) {
    return Promise.all(
      buckets.map(async (id) => {
        const usage = await storage.usage({ bucket: id }).catch((error) => {
          // A key that may only write cannot read the usage.
          if (isStorageError(error) && outOfUseCodes.has(error.code)) throw error;
          return undefined;
        });
        return { id, usage };
      }),
    );
  }
  const found: Shown[] = [];
  for await (const record of storage.buckets.list()) {
    const { id, fileCount: files, byteCount: bytes } = record;
    found.push({ id, usage: { files, bytes }, record });
  }
  return found;
}

export function Overview({ session }: { session: Session }) {
  const found = useSignal<readonly Shown[] | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  async function load(): Promise<void> {
    failure.value = undefined;
    try {
      found.value = await bucketsOf(session);
    } catch (error) {
      failure.value = sentenceOf(error);
    }
  }
  useEffect(() => void load(), [session]);
  return (
    <div class="page overview">
      <h1 tabIndex={-1}>Your buckets</h1>
      <Failure text={failure.value} onRetry={() => void load()} />
      {found.value === undefined && failure.value === undefined && (
        <p class="waiting">Loading your buckets …</p>
      )}
      {found.value !== undefined && <Buckets buckets={found.value} />}
      {found.value?.length === 0 && <NoBuckets />}
      <AddBucket session={session} onAdded={() => void load()} />
      <ServiceState session={session} />
      {session.principal !== undefined && (
        <Principal session={session} principal={session.principal} />
      )}
    </div>
  );
}

function Buckets({ buckets }: { buckets: readonly Shown[] }) {
  const allBytes = buckets.reduce((sum, { usage }) => sum + (usage?.bytes ?? 0), 0);
  return (
    <ul class="cards">
      {buckets.map(({ id, usage, record }) => (
        <li key={id} class="card">
          <a class="bucket-link" href={addressOf({ view: 'files', bucket: id, prefix: '' })}>
            <Icon name="bucket" />
            {id}
          </a>
          <p>
            {usage
              ? `${counted(usage.files, 'file')}, ${sizeOf(usage.bytes)}`
              : 'Open it to see its files.'}
          </p>
          {usage && <Filling usage={usage} quota={record?.quotaBytes} allBytes={allBytes} />}
          {record && <p class="quiet">{readersOf(record)}</p>}
        </li>
      ))}
    </ul>
  );
}

function readersOf({ isPublic, endToEnd }: BucketRecord): string {
  const readers = isPublic ? 'Everybody may read it' : 'Private';
  return endToEnd ? `${readers}, encrypted end to end` : readers;
}

interface FillingProps {
  readonly usage: Usage;
  readonly quota: number | undefined;
  readonly allBytes: number;
}

/** Shows the used share of the bucket's quota; without a quota, its share of all listed buckets. */
function Filling({ usage: { bytes }, quota, allBytes }: FillingProps) {
  const share = quota ? bytes / quota : bytes / Math.max(1, allBytes);
  const percent = `${Math.round(share * 100)} %`;
  const label = quota ? `${percent} of its ${sizeOf(quota)}` : `${percent} of all these files`;
  return <FillBar share={share} isLow={quota !== undefined && share > 0.9} label={label} />;
}

function NoBuckets() {
  return (
    <p>
      You have no bucket yet. Ask an owner of one to add you with the command below, or create one
      of your own.
    </p>
  );
}

function Principal({ session, principal }: { session: Session; principal: string }) {
  return (
    <section class="card">
      <h2>{session.kind === 'device' ? 'This device is' : 'You are'}</h2>
      <CopyText text={principal} label="the principal" />
      <p>An owner of a bucket adds you with this command and the bucket’s name:</p>
      <CopyText
        text={`efs member add <bucket> ${principal} --role writer`}
        label="the command for an owner"
      />
    </section>
  );
}
