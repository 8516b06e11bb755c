// The view of one file: preview, record, links and former versions.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { cloudPath } from '../../../packages/client/src/operations/url-paths.ts';
import { isStorageError } from '../../../packages/client/src/storage-error.ts';
import type { FileRecord } from '../../../packages/client/src/types/files.ts';
import type { FileVersion } from '../../../packages/client/src/types/versions.ts';
import { sentenceOf } from '../failures.ts';
import { newestVersion } from '../files/deleted.ts';
import { downloadOne } from '../files/download.ts';
import { type Neighbours, neighboursOf } from '../files/neighbours.ts';
import { previewedOf } from '../files/previewed.ts';
import { isSealed } from '../files/sealed.ts';
import { isRightToLeft, texts } from '../language.ts';
import { CopyText } from '../parts/copy-text.tsx';
import { deferred } from '../parts/deferred.tsx';
import { Failure } from '../parts/failure.tsx';
import { useTask } from '../parts/task.ts';
import { addressOf, go, type Route } from '../route.ts';
import type { Session } from '../session.ts';
import { expiryOf, momentOf, nameOf, sizeOf, whenWithin } from '../words.ts';
import { Breadcrumbs } from './breadcrumbs.tsx';
import { type Rights, useRights } from './bucket-role.ts';
import { EditFile } from './edit-file.tsx';
import { Preview } from './preview.tsx';
import { Protection } from './protection.tsx';

const Links = deferred(async () => (await import('./share-dialog.tsx')).Links);
const Versions = deferred(async () => (await import('./versions.tsx')).Versions);

type FileRoute = Extract<Route, { view: 'file' }>;

export function FilePage({ session, place }: { session: Session; place: FileRoute }) {
  const { bucket, path } = place;
  const file = useSignal<FileRecord | undefined>(undefined);
  const deleted = useSignal<FileVersion | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const rights = useRights(session, bucket);
  async function load(): Promise<void> {
    failure.value = undefined;
    try {
      file.value = await session.storage.stat({ bucket, path });
    } catch (error) {
      failure.value = sentenceOf(error);
      if (!isStorageError(error, 'NoSuchFile')) return;
      // Callers who may not list versions see only that the file does not exist.
      const newest = await newestVersion({ storage: session.storage, bucket }, path).catch(
        () => {},
      );
      if (newest === undefined) return;
      deleted.value = newest;
      failure.value = undefined;
    }
  }
  useEffect(() => void load(), []);
  const { value: record } = file;
  const setFile = (next: FileRecord) => {
    file.value = next;
  };
  return (
    <div class="page">
      <div class="files-head">
        <Breadcrumbs bucket={bucket} path={path} />
        {record && <NeighbourLinks session={session} file={record} />}
      </div>
      <Failure text={failure.value} onRetry={() => void load()} />
      {record === undefined && deleted.value === undefined && failure.value === undefined && (
        <p class="waiting">{texts().page.loading}</p>
      )}
      {record === undefined && deleted.value && (
        <Deleted
          session={session}
          bucket={bucket}
          file={deleted.value}
          mayRestore={rights.mayWrite}
          onRestored={setFile}
        />
      )}
      {record && <ShownFile session={session} file={record} rights={rights} onChanged={setFile} />}
    </div>
  );
}

interface ShownFileProps extends ActionsProps {
  onChanged(file: FileRecord): void;
}

function ShownFile({ session, file, rights, onChanged }: ShownFileProps) {
  return (
    <div class="file-view">
      <Preview key={file.etag} file={previewedOf(session, file)} />
      <div class="file-facts">
        <Actions session={session} file={file} rights={rights} />
        <Facts file={file} />
        {rights.isPublic && !isSealed(file) && <PublicAddress session={session} file={file} />}
        {rights.mayWrite && <EditFile session={session} file={file} onChanged={onChanged} />}
        <Protection session={session} file={file} isOwner={rights.isOwner} onChanged={onChanged} />
        {!session.shared && (
          <>
            <FileLinks session={session} file={file} />
            <Versions
              key={file.version}
              session={session}
              file={file}
              mayRestore={rights.mayWrite}
              onRestored={onChanged}
            />
          </>
        )}
      </div>
    </div>
  );
}

/** Links to the previous and the next file of the folder, also by the arrow keys. */
function NeighbourLinks({ session: { storage }, file }: { session: Session; file: FileRecord }) {
  const { bucketId: bucket, path } = file;
  const found = useSignal<Neighbours>({ previous: undefined, next: undefined });
  useEffect(() => {
    const stop = new AbortController();
    const place = { storage, bucket, path, signal: stop.signal };
    // Without the list, for example with a key that may not list, the page has no such links.
    neighboursOf(place, isSealed(file)).then(
      (both) => {
        found.value = both;
      },
      () => {},
    );
    return () => stop.abort();
  }, []);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const key = neighbourKey(event.key);
      const to = key && found.value[key];
      if (to === undefined || isKeyInUse(event)) return;
      event.preventDefault();
      go({ view: 'file', bucket, path: to });
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
  const link = (to: string | undefined, label: string) =>
    to !== undefined && (
      <a class="button" href={addressOf({ view: 'file', bucket, path: to })} title={nameOf(to)}>
        {label}
      </a>
    );
  const { previous, next } = found.value;
  const { file: words } = texts();
  return (
    <nav class="buttons" aria-label={words.filesOfFolder}>
      {link(previous, words.previous)}
      {link(next, words.next)}
    </nav>
  );
}

/** Returns the neighbour in the direction of the arrow key. */
function neighbourKey(key: string): keyof Neighbours | undefined {
  const [back, on] = isRightToLeft() ? ['ArrowRight', 'ArrowLeft'] : ['ArrowLeft', 'ArrowRight'];
  return key === back ? 'previous' : key === on ? 'next' : undefined;
}

/** Whether the focused element uses arrow keys itself: a field, a player, a scrolled text. */
function isKeyInUse({ target, altKey, ctrlKey, metaKey, shiftKey }: KeyboardEvent): boolean {
  const elements = 'input, textarea, select, video, audio, iframe, pre, .csv, dialog';
  const isInUse = target instanceof Element && target.closest(elements) !== null;
  return isInUse || altKey || ctrlKey || metaKey || shiftKey;
}

function FileLinks({ session, file }: { session: Session; file: FileRecord }) {
  const { bucketId: bucket, path } = file;
  return (
    <section aria-labelledby="links-title">
      <h2 id="links-title">{texts().file.links}</h2>
      <Links target={{ session, bucket }} path={path} isSealed={isSealed(file)} />
    </section>
  );
}

interface DeletedProps {
  readonly session: Session;
  readonly bucket: string;
  readonly file: FileVersion;
  readonly mayRestore: boolean;
  onRestored(file: FileRecord): void;
}

function Deleted({ session, bucket, file, mayRestore, onRestored }: DeletedProps) {
  const { path, version, size, retiredAt, expiresAt } = file;
  const { file: words } = texts();
  const { isUnderWay, failure, run } = useTask();
  const restore = () =>
    run(async () => {
      const name = { bucket, path, version };
      onRestored(await session.storage.versions.restore({ ...name, ifNoneMatch: '*' }));
    });
  return (
    <>
      <p>{words.wasDeleted(sizeOf(size), whenWithin(retiredAt), expiryOf(expiresAt))}</p>
      <Failure text={failure.value} />
      <div class="buttons">
        {mayRestore && (
          <button
            type="button"
            class="main"
            disabled={isUnderWay.value}
            onClick={() => void restore()}
          >
            {isUnderWay.value ? words.restoring : words.restore}
          </button>
        )}
        <a class="button" href={addressOf({ view: 'deleted', bucket })}>
          {words.deleted}
        </a>
      </div>
    </>
  );
}

interface ActionsProps {
  readonly session: Session;
  readonly file: FileRecord;
  readonly rights: Rights;
}

function Actions({ session, file, rights }: ActionsProps) {
  const { bucketId: bucket, path } = file;
  const { isUnderWay, failure, run } = useTask();
  const { file: words, tabs } = texts();
  return (
    <>
      <div class="buttons">
        <button
          type="button"
          class="main"
          disabled={isUnderWay.value}
          onClick={() => void run(() => downloadOne(session, file))}
        >
          {isUnderWay.value ? words.preparing : words.download}
        </button>
        {rights.maySeeActivity && (
          <a class="button" href={addressOf({ view: 'activity', bucket, path })}>
            {tabs.activity}
          </a>
        )}
      </div>
      <Failure text={failure.value} />
    </>
  );
}

/** The address at which everybody can read the file. */
function PublicAddress({ session, file }: { session: Session; file: FileRecord }) {
  const { bucketId: bucket, path } = file;
  const address = useSignal<string | undefined>(undefined);
  useEffect(() => {
    session.addressOf(bucket).then(
      (url) => {
        address.value = url + cloudPath({ bucket, path });
      },
      () => {},
    );
  }, []);
  if (address.value === undefined) return null;
  const { file: words, copying } = texts();
  return (
    <section aria-labelledby="public-title">
      <h2 id="public-title">{words.publicAddress}</h2>
      <p>{words.publicUntil}</p>
      <CopyText text={address.value} label={copying.publicAddress} />
    </section>
  );
}

type Kinds = ReturnType<typeof texts>['words']['kinds'];

const kinds: readonly (readonly [pattern: RegExp, kind: keyof Kinds])[] = [
  [/^image\//, 'image'],
  [/^video\//, 'video'],
  [/^audio\//, 'audio'],
  [/^application\/pdf/, 'pdf'],
  [/^text\/markdown/, 'markdown'],
  [/^text\/html/, 'web'],
  [/^text\//, 'text'],
  [/json/, 'json'],
  [/zip|tar|compressed/, 'archive'],
];

function kindOf(contentType: string): string {
  const kind = kinds.find(([pattern]) => pattern.test(contentType))?.[1] ?? 'file';
  return texts().words.kinds[kind];
}

function Facts({ file }: { file: FileRecord }) {
  const { size, contentType, createdAt, updatedAt, tags, sha256, etag, version } = file;
  const { file: words } = texts();
  const facts: readonly (readonly [string, string])[] = [
    [words.size, size < 1_000 ? sizeOf(size) : words.sizeInBytes(sizeOf(size), size)],
    [words.kind, `${kindOf(contentType)}, ${contentType}`],
    [words.changed, momentOf(updatedAt)],
    [words.firstStored, momentOf(createdAt)],
    [words.version, String(version)],
    [words.tags, tags.length > 0 ? tags.join(', ') : words.noTags],
    ['SHA-256', sha256 ?? words.ofChunks(etag)],
  ];
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <bdi>{value}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  );
}
