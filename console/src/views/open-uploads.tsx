// The uploads in progress in a bucket, by any caller; an owner may cancel each.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { UploadSession } from '../../../packages/client/src/types/transfers.ts';
import { texts } from '../language.ts';
import { Failure } from '../parts/failure.tsx';
import { useTask } from '../parts/task.ts';
import { expiryOf, nameOf, sizeOf } from '../words.ts';
import type { BucketProps } from './bucket-role.ts';

export function OpenUploads({ session, record }: BucketProps) {
  const sessions = useSignal<readonly UploadSession[]>([]);
  const load = () =>
    session.storage.uploads.list({ bucket: record.id }).then(
      (found) => {
        sessions.value = found;
      },
      // Callers without the right to list uploads see an empty list.
      () => {},
    );
  useEffect(() => void load(), []);
  if (sessions.value.length === 0) return null;
  return (
    <section class="card" aria-labelledby="under-way">
      <h2 id="under-way">{texts().openUploads.title}</h2>
      <ul class="lines">
        {sessions.value.map((upload) => (
          <OneUpload
            key={upload.uploadId}
            session={session}
            upload={upload}
            onGone={() => void load()}
          />
        ))}
      </ul>
    </section>
  );
}

type OneUploadProps = Pick<BucketProps, 'session'> & {
  readonly upload: UploadSession;
  onGone(): void;
};

function OneUpload({ session, upload, onGone }: OneUploadProps) {
  const {
    uploadId,
    bucketId: bucket,
    path,
    uploadedSize,
    totalSize,
    isSizeKnown,
    expiresAt,
  } = upload;
  const { openUploads: words } = texts();
  const whole = isSizeKnown ? sizeOf(totalSize) : undefined;
  const { isUnderWay, failure, run } = useTask();
  const cancel = () =>
    run(async () => {
      await session.storage.uploads.cancel({ bucket, path, uploadId });
      onGone();
    });
  return (
    <li>
      <span>
        <strong>
          <bdi>{nameOf(path)}</bdi>
        </strong>{' '}
        {words.one(sizeOf(uploadedSize), whole, expiryOf(expiresAt))}
        <Failure text={failure.value} />
      </span>
      <button
        type="button"
        class="danger"
        disabled={isUnderWay.value}
        aria-label={words.cancelOne(nameOf(path))}
        onClick={() => void cancel()}
      >
        {isUnderWay.value ? words.cancelling : texts().page.cancel}
      </button>
    </li>
  );
}
