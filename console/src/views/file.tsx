// The view of one file: preview, record, links and former versions.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { FileRecord } from '../../../packages/client/src/types/files.ts';
import { sentenceOf } from '../failures.ts';
import { downloadOne } from '../files/download.ts';
import { previewedOf } from '../files/previewed.ts';
import { isSealed } from '../files/sealed.ts';
import { deferred } from '../parts/deferred.tsx';
import { Failure } from '../parts/failure.tsx';
import { useTask } from '../parts/task.ts';
import { addressOf, type Route } from '../route.ts';
import type { Session } from '../session.ts';
import { folderOf, kindOf, momentOf, sizeOf } from '../words.ts';
import { Breadcrumbs } from './breadcrumbs.tsx';
import { EditFile } from './edit-file.tsx';
import { Preview } from './preview.tsx';

const Links = deferred(async () => (await import('./share-dialog.tsx')).Links);
const Versions = deferred(async () => (await import('./versions.tsx')).Versions);

type FileRoute = Extract<Route, { view: 'file' }>;

export function FilePage({ session, place }: { session: Session; place: FileRoute }) {
  const { bucket, path } = place;
  const file = useSignal<FileRecord | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  async function load(): Promise<void> {
    failure.value = undefined;
    try {
      file.value = await session.storage.stat({ bucket, path });
    } catch (error) {
      failure.value = sentenceOf(error);
    }
  }
  useEffect(() => void load(), []);
  const { value: record } = file;
  const setFile = (next: FileRecord) => {
    file.value = next;
  };
  return (
    <div class="page">
      <Breadcrumbs bucket={bucket} path={path} />
      <Failure text={failure.value} onRetry={() => void load()} />
      {record === undefined && failure.value === undefined && <p class="waiting">Loading …</p>}
      {record && (
        <div class="file-view">
          <Preview key={record.etag} file={previewedOf(session, record)} />
          <div class="file-facts">
            <Actions session={session} file={record} />
            <Facts file={record} />
            <EditFile session={session} file={record} onChanged={setFile} />
            <section aria-labelledby="links-title">
              <h2 id="links-title">Links</h2>
              <Links target={{ session, bucket }} path={path} isSealed={isSealed(record)} />
            </section>
            <Versions key={record.version} session={session} file={record} onRestored={setFile} />
          </div>
        </div>
      )}
    </div>
  );
}

function Actions({ session, file }: { session: Session; file: FileRecord }) {
  const { isUnderWay, failure, run } = useTask();
  const { bucketId: bucket, path } = file;
  const back = addressOf({ view: 'files', bucket, prefix: folderOf(path) });
  return (
    <>
      <div class="buttons">
        <button
          type="button"
          class="main"
          disabled={isUnderWay.value}
          onClick={() => void run(() => downloadOne(session, file))}
        >
          {isUnderWay.value ? 'Preparing …' : 'Download'}
        </button>
        <a class="button" href={back}>
          Back to the folder
        </a>
      </div>
      <Failure text={failure.value} />
    </>
  );
}

function Facts({ file }: { file: FileRecord }) {
  const { size, contentType, createdAt, updatedAt, tags, sha256, etag, version } = file;
  const facts: readonly (readonly [string, string])[] = [
    ['Size', size < 1_000 ? sizeOf(size) : `${sizeOf(size)} (${size.toLocaleString('en')} bytes)`],
    ['Kind', `${kindOf(contentType)}, ${contentType}`],
    ['Changed', momentOf(updatedAt)],
    ['First stored', momentOf(createdAt)],
    ['Version', String(version)],
    ['Tags', tags.length > 0 ? tags.join(', ') : 'none'],
    ['SHA-256', sha256 ?? `of the chunks: ${etag}`],
  ];
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
