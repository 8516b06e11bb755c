// The settings of a bucket: rights, quota, former versions and uploads in progress.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { BucketChange, BucketRecord } from '../../../packages/client/src/types/buckets.ts';
import { recordOf, signedRecordOf } from '../bucket-record.ts';
import { sentenceOf } from '../failures.ts';
import { tell } from '../notices.ts';
import { Failure } from '../parts/failure.tsx';
import { FillBar } from '../parts/fill-bar.tsx';
import { useTask } from '../parts/task.ts';
import { addressOf } from '../route.ts';
import type { Session } from '../session.ts';
import { counted, sizeOf } from '../words.ts';
import { BucketEndToEnd } from './bucket-end-to-end.tsx';
import { BucketKeys } from './bucket-keys.tsx';
import { BucketMembers } from './bucket-members.tsx';
import { type BucketProps, isOwner } from './bucket-role.ts';
import { OpenUploads } from './open-uploads.tsx';

export function BucketPage({ session, bucket }: { session: Session; bucket: string }) {
  const { found, failure, load, onChanged } = useRecord(session, bucket);
  const props = found.value && { session, ...found.value, onChanged };
  return (
    <div class="page">
      <h1 tabIndex={-1}>{bucket}</h1>
      <p>
        <a class="button" href={addressOf({ view: 'files', bucket, prefix: '' })}>
          Show files
        </a>
      </p>
      <Failure text={failure.value} onRetry={() => void load()} />
      {props === undefined && failure.value === undefined && <p class="waiting">Loading …</p>}
      {props && (
        <div class="sections">
          <Room record={props.record} />
          <Visibility {...props} />
          <KeptVersions {...props} />
          <BucketEndToEnd {...props} />
          {isOwner(props) && <BucketMembers {...props} />}
          {isOwner(props) && <BucketKeys {...props} />}
          <OpenUploads {...props} />
          {!isOwner(props) && (
            <p class="quiet">
              Members, keys and limits are shown to owners who sign in with an identity.
            </p>
          )}
        </div>
      )}
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
  const used = byteCount + overheadBytes + versionBytes;
  return (
    <section class="card" aria-labelledby="room">
      <h2 id="room">Storage</h2>
      <p>
        {counted(fileCount, 'file')}, {sizeOf(byteCount)}
        {versionCount > 0 &&
          `, and ${counted(versionCount, 'former version')}, ${sizeOf(versionBytes)}`}
      </p>
      {quotaBytes ? (
        <>
          <FillBar
            share={used / quotaBytes}
            isLow={used > quotaBytes * 0.9}
            label={`${Math.round((used / quotaBytes) * 100)} % of the quota used`}
          />
          <p class="quiet">
            {sizeOf(used)} of {sizeOf(quotaBytes)} used, including metadata
          </p>
        </>
      ) : (
        <p class="quiet">No quota.</p>
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
  const { isPublic, isSite } = props.record;
  const { isUnderWay, failure, change } = useChange(props);
  const words = isPublic
    ? 'Everybody who knows the address of a file may read it, and names can be guessed.'
    : 'Private: only members, holders of a key, and people with a link.';
  return (
    <section class="card" aria-labelledby="visibility">
      <h2 id="visibility">Who may read</h2>
      <p>{words}</p>
      {isSite && <p>The bucket is served as a site: folders show their index.html.</p>}
      {isOwner(props) && (
        <button
          type="button"
          disabled={isUnderWay.value}
          onClick={() =>
            void change({ isPublic: !isPublic }, isPublic ? 'Private now.' : 'Public now.')
          }
        >
          {isUnderWay.value ? 'Changing …' : isPublic ? 'Make it private' : 'Let everybody read it'}
        </button>
      )}
      <Failure text={failure.value} />
    </section>
  );
}

function KeptVersions(props: BucketProps) {
  const { keepVersionsDays: days } = props.record;
  const { isUnderWay, failure, change } = useChange(props);
  return (
    <section class="card" aria-labelledby="versions">
      <h2 id="versions">Former versions</h2>
      <p>
        {days === 0
          ? 'Not kept: replaced and deleted files are gone at once.'
          : `Replaced and deleted files can be restored for ${counted(days, 'day')}.`}
      </p>
      {props.record.versionCount > 0 && (
        <p>
          <a href={addressOf({ view: 'deleted', bucket: props.record.id })}>Show deleted files</a>
        </p>
      )}
      {isOwner(props) && (
        <button
          type="button"
          disabled={isUnderWay.value}
          onClick={() => void change({ keepVersionsDays: days === 0 ? 30 : 0 }, 'Saved.')}
        >
          {isUnderWay.value ? 'Changing …' : days === 0 ? 'Keep them for 30 days' : 'Keep none'}
        </button>
      )}
      <Failure text={failure.value} />
    </section>
  );
}
