// Former versions of the file, if the bucket keeps them.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { FileRecord } from '../../../packages/client/src/types/files.ts';
import type { FileVersion } from '../../../packages/client/src/types/versions.ts';
import { downloadVersion } from '../files/download.ts';
import { tell } from '../notices.ts';
import { Failure } from '../parts/failure.tsx';
import { useTask } from '../parts/task.ts';
import type { Session } from '../session.ts';
import { sizeOf, whenOf } from '../words.ts';

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
      <h2 id="versions-title">Former versions</h2>
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
  const isRestoring = useSignal(false);
  const download = () => downloadVersion(session, file.bucketId, version);
  const restore = async () => {
    const { bucketId: bucket, path } = file;
    onRestored(await session.storage.versions.restore({ bucket, path, version: version.version }));
    tell('The former version is restored. The replaced one is kept as a former version.');
  };
  const begin = (work: () => Promise<void>) => {
    if (!isUnderWay.value) isRestoring.value = work === restore;
    void run(work);
  };
  const button = (words: string, underWay: string, work: () => Promise<void>) => (
    <button
      type="button"
      disabled={isUnderWay.value}
      aria-label={`${words} version ${version.version}`}
      onClick={() => begin(work)}
    >
      {isUnderWay.value && isRestoring.value === (work === restore) ? underWay : words}
    </button>
  );
  return (
    <li>
      <span>
        Version {version.version}, {sizeOf(version.size)}, of {whenOf(version.updatedAt)}
        <Failure text={failure.value} />
      </span>
      <div class="buttons">
        {button('Download', 'Downloading …', download)}
        {mayRestore && button('Restore', 'Restoring …', restore)}
      </div>
    </li>
  );
}
