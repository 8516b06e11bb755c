// Former versions of the file, if the bucket keeps them.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { FileRecord } from '../../../packages/client/src/types/files.ts';
import type { FileVersion } from '../../../packages/client/src/types/versions.ts';
import { downloadVersion } from '../files/download.ts';
import { texts } from '../language.ts';
import { tell } from '../notices.ts';
import { Failure } from '../parts/failure.tsx';
import { useTask } from '../parts/task.ts';
import { protectionWords } from '../rule-words.ts';
import type { Session } from '../session.ts';
import { sizeOf, whenWithin } from '../words.ts';

interface VersionsProps {
  readonly session: Session;
  readonly file: FileRecord;
  readonly mayRestore: boolean;
  onRestored(file: FileRecord): void;
}

export function Versions(props: VersionsProps) {
  const { session, file } = props;
  const versions = useSignal<readonly FileVersion[]>([]);
  useEffect(() => {
    const { bucketId: bucket, path } = file;
    void (async () => {
      const found: FileVersion[] = [];
      for await (const one of session.storage.versions.list({ bucket, path })) found.unshift(one);
      versions.value = found;
      // Callers without the right to list versions see an empty list.
    })().catch(() => {});
  }, []);
  if (versions.value.length === 0) return null;
  return (
    <section aria-labelledby="versions-title">
      <h2 id="versions-title">{texts().versions.title}</h2>
      <ul class="lines">
        {versions.value.map((version) => (
          <OneVersion key={version.version} version={version} {...props} />
        ))}
      </ul>
    </section>
  );
}

function OneVersion(props: VersionsProps & { version: FileVersion }) {
  const { session, file, version, mayRestore, onRestored } = props;
  const { isUnderWay, failure, run } = useTask();
  const { versions: words } = texts();
  const isRestoring = useSignal(false);
  const download = () => downloadVersion(session, file.bucketId, version);
  const restore = async () => {
    const { bucketId: bucket, path } = file;
    onRestored(await session.storage.versions.restore({ bucket, path, version: version.version }));
    tell(texts().versions.restored);
  };
  const begin = (work: () => Promise<void>) => {
    if (!isUnderWay.value) isRestoring.value = work === restore;
    void run(work);
  };
  const isBusy = (work: () => Promise<void>) =>
    isUnderWay.value && isRestoring.value === (work === restore);
  return (
    <li>
      <span>
        {words.one(version.version, sizeOf(version.size), whenWithin(version.updatedAt))}{' '}
        {protectionWords(version.retention)}
        <Failure text={failure.value} />
      </span>
      <div class="buttons">
        <button
          type="button"
          disabled={isUnderWay.value}
          aria-label={words.downloadOne(version.version)}
          onClick={() => begin(download)}
        >
          {isBusy(download) ? words.downloading : words.download}
        </button>
        {mayRestore && (
          <button
            type="button"
            disabled={isUnderWay.value}
            aria-label={words.restoreOne(version.version)}
            onClick={() => begin(restore)}
          >
            {isBusy(restore) ? words.restoring : words.restore}
          </button>
        )}
      </div>
    </li>
  );
}
