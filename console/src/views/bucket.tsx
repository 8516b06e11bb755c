// The settings of a bucket: rights, quota, former versions and uploads in progress.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { BucketChange, BucketRecord } from '../../../packages/client/src/types/buckets.ts';
import { recordOf, signedRecordOf } from '../bucket-record.ts';
import { sentenceOf } from '../failures.ts';
import { texts } from '../language.ts';
import { tell } from '../notices.ts';
import { Failure } from '../parts/failure.tsx';
import { FillBar } from '../parts/fill-bar.tsx';
import { useTask } from '../parts/task.ts';
import type { Session } from '../session.ts';
import { sizeOf } from '../words.ts';
import { BucketEndToEnd } from './bucket-end-to-end.tsx';
import { BucketHead } from './bucket-head.tsx';
import { BucketKeys } from './bucket-keys.tsx';
import { BucketMembers } from './bucket-members.tsx';
import { BucketRetention } from './bucket-retention.tsx';
import { type BucketProps, isOwner, useRights } from './bucket-role.ts';
import { BucketRules } from './bucket-rules.tsx';
import { OpenUploads } from './open-uploads.tsx';

export function BucketPage({ session, bucket }: { session: Session; bucket: string }) {
  const { found, failure, load, onChanged } = useRecord(session, bucket);
  const rights = useRights(session, bucket);
  const { bucket: words, page } = texts();
  const props = found.value && { session, ...found.value, onChanged };
  return (
    <div class="page">
      <BucketHead place={{ view: 'bucket', bucket }} rights={rights} />
      <Failure text={failure.value} onRetry={() => void load()} />
      {props === undefined && failure.value === undefined && <p class="waiting">{page.loading}</p>}
      {props && (
        <div class="sections">
          <Room record={props.record} />
          <Visibility {...props} />
          <KeptVersions {...props} />
          <BucketRules {...props} />
          <BucketRetention {...props} />
          <BucketEndToEnd {...props} />
          {isOwner(props) && <BucketMembers {...props} />}
          <OpenUploads {...props} />
          {!isOwner(props) && <p class="quiet">{words.forOwners}</p>}
        </div>
      )}
      {props && isOwner(props) && <BucketKeys {...props} />}
    </div>
  );
}

/** Shows the answer of one node at once, and to an owner then what the network signs. */
function useRecord(session: Session, bucket: string) {
  const found = useSignal<Pick<BucketProps, 'record' | 'isSigned'> | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  // The reply to a change is signed, and newer than a record that was requested before it.
  const onChanged = (record: BucketRecord) => {
    found.value = { record, isSigned: true };
  };
  async function load(): Promise<void> {
    failure.value = undefined;
    try {
      const unsigned = { record: await recordOf(session, bucket), isSigned: false };
      found.value = unsigned;
      if (session.kind === 'key' || !isOwner(unsigned)) return;
      const record = await signedRecordOf(session, bucket);
      if (found.value === unsigned) onChanged(record);
    } catch (error) {
      failure.value = sentenceOf(error);
    }
  }
  useEffect(() => void load(), []);
  return { found, failure, load, onChanged };
}

function Room({ record }: { record: BucketRecord }) {
  const { fileCount, byteCount, overheadBytes, quotaBytes, versionCount, versionBytes } = record;
  const { bucket: words } = texts();
  const used = byteCount + overheadBytes + versionBytes;
  return (
    <section class="card" aria-labelledby="room">
      <h2 id="room">{words.storage}</h2>
      <p>
        {versionCount === 0
          ? words.amount(fileCount, sizeOf(byteCount))
          : words.amountWithVersions(
              fileCount,
              sizeOf(byteCount),
              versionCount,
              sizeOf(versionBytes),
            )}
      </p>
      {quotaBytes ? (
        <>
          <FillBar
            share={used / quotaBytes}
            isLow={used > quotaBytes * 0.9}
            label={words.quotaShare(Math.round((used / quotaBytes) * 100))}
          />
          <p class="quiet">{words.quota(sizeOf(used), sizeOf(quotaBytes))}</p>
        </>
      ) : (
        <p class="quiet">{words.noQuota}</p>
      )}
    </section>
  );
}

function useChange({ session, record, onChanged }: BucketProps) {
  const task = useTask();
  const change = (wanted: BucketChange, said: string) =>
    task.run(async () => {
      onChanged(await session.storage.buckets.update(record.id, wanted));
      tell(said);
    });
  return { ...task, change };
}

function Visibility(props: BucketProps) {
  const { isPublic, isSite, isListed } = props.record;
  const { isUnderWay, failure, change } = useChange(props);
  const { bucket: words, page } = texts();
  return (
    <section class="card" aria-labelledby="visibility">
      <h2 id="visibility">{words.readers}</h2>
      <p>{isPublic ? words.everybody : words.isPrivate}</p>
      {isSite && <p>{words.isSite}</p>}
      {isListed && <p>{words.isListed}</p>}
      {isOwner(props) && (
        <button
          type="button"
          disabled={isUnderWay.value}
          onClick={() =>
            void change({ isPublic: !isPublic }, isPublic ? words.nowPrivate : words.nowPublic)
          }
        >
          {isUnderWay.value ? page.changing : isPublic ? words.makePrivate : words.makePublic}
        </button>
      )}
      <Failure text={failure.value} />
    </section>
  );
}

function KeptVersions(props: BucketProps) {
  const { keepVersionsDays: days } = props.record;
  const { bucket: words, page } = texts();
  const { isUnderWay, failure, change } = useChange(props);
  return (
    <section class="card" aria-labelledby="versions">
      <h2 id="versions">{words.versions}</h2>
      <p>{days === 0 ? words.noVersions : words.keepsVersions(days)}</p>
      {isOwner(props) && (
        <button
          type="button"
          class={days === 0 ? undefined : 'danger'}
          disabled={isUnderWay.value}
          onClick={() => void change({ keepVersionsDays: days === 0 ? 30 : 0 }, page.saved)}
        >
          {isUnderWay.value ? page.changing : days === 0 ? words.keepVersions : words.keepNone}
        </button>
      )}
      <Failure text={failure.value} />
    </section>
  );
}
