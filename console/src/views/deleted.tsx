// The deleted files of a bucket: restores one, or erases it before its time.

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { FileVersion } from '../../../packages/client/src/types/versions.ts';
import { sentenceOf } from '../failures.ts';
import { deletedFiles, requireDeleted } from '../files/deleted.ts';
import { texts } from '../language.ts';
import { tell } from '../notices.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Failure } from '../parts/failure.tsx';
import { Icon } from '../parts/icon.tsx';
import { useTask } from '../parts/task.ts';
import { addressOf } from '../route.ts';
import type { Session } from '../session.ts';
import { expiryOf, nameOf, sizeOf, whenWithin } from '../words.ts';
import { BucketHead } from './bucket-head.tsx';
import { type Rights, useRights } from './bucket-role.ts';

interface DeletedProps {
  readonly session: Session;
  readonly bucket: string;
}

/** Shows further deleted files until so many are found, or so many groups have been examined. */
const filesAtOnce = 100;
const groupsAtOnce = 125;

function useDeleted({ session: { storage }, bucket }: DeletedProps) {
  const files = useSignal<readonly FileVersion[]>([]);
  const state = useSignal<'loading' | 'more' | 'complete'>('loading');
  const failure = useSignal<string | undefined>(undefined);
  const search = useRef<ReturnType<typeof deletedFiles> | undefined>(undefined);
  async function loadMore(): Promise<void> {
    const { current: own } = search;
    const before = files.value.length;
    state.value = 'loading';
    failure.value = undefined;
    try {
      for (let groups = 0; groups < groupsAtOnce; groups++) {
        const next = await own?.next();
        // The page has been closed, or the search has begun again.
        if (own !== search.current) return;
        if (next === undefined || next.done === true) {
          state.value = 'complete';
          return;
        }
        files.value = [...files.value, ...next.value];
        if (files.value.length - before >= filesAtOnce) break;
      }
      state.value = 'more';
    } catch (error) {
      if (own === search.current) failure.value = sentenceOf(error);
    }
  }
  /** Begins the search again; a generator that has failed has ended. */
  function begin(): void {
    search.current = deletedFiles({ storage, bucket });
    files.value = [];
    void loadMore();
  }
  useEffect(() => {
    begin();
    return () => {
      search.current = undefined;
    };
  }, [storage, bucket]);
  const remove = (gone: FileVersion) => {
    files.value = files.value.filter(({ path }) => path !== gone.path);
  };
  return { files, state, failure, loadMore, begin, remove };
}

export function DeletedPage(props: DeletedProps) {
  const { session, bucket } = props;
  const { deleted: words } = texts();
  const rights = useRights(session, bucket);
  const { files, state, failure, loadMore, begin, remove } = useDeleted(props);
  const isEmpty = files.value.length === 0 && state.value === 'complete';
  return (
    <div class="page">
      <BucketHead place={{ view: 'deleted', bucket }} rights={rights} />
      <Failure text={failure.value} onRetry={begin} />
      <ul class="lines">
        {files.value.map((file) => (
          <OneFile
            key={file.path}
            {...props}
            file={file}
            rights={rights}
            onGone={() => remove(file)}
          />
        ))}
      </ul>
      <div class={isEmpty ? 'blank' : undefined}>
        {isEmpty && <Icon name="bin" />}
        <p class="state" role="status">
          {state.value === 'loading' && failure.value === undefined && texts().page.loading}
          {isEmpty && (rights.keepsVersions ? words.none : words.noneKept)}
        </p>
        {isEmpty && (
          <a class="button" href={addressOf({ view: 'files', bucket, prefix: '' })}>
            {words.showFiles}
          </a>
        )}
      </div>
      {state.value === 'more' && (
        <p>
          <button type="button" onClick={() => void loadMore()}>
            {words.showMore}
          </button>
        </p>
      )}
    </div>
  );
}

interface OneFileProps extends DeletedProps {
  readonly file: FileVersion;
  readonly rights: Rights;
  onGone(): void;
}

function OneFile({ session, bucket, file, rights, onGone }: OneFileProps) {
  const { path, version, size, retiredAt, expiresAt } = file;
  const { deleted: words } = texts();
  const { isUnderWay, failure, run } = useTask();
  const isAsking = useSignal(false);
  const ask = (next: boolean) => {
    isAsking.value = next;
  };
  const restore = () =>
    run(async () => {
      await session.storage.versions.restore({ bucket, path, version, ifNoneMatch: '*' });
      tell(words.restored(nameOf(path)));
      onGone();
    });
  return (
    <li>
      <span>
        <strong>
          <bdi>{path}</bdi>
        </strong>
        <br />
        {words.one(sizeOf(size), whenWithin(retiredAt), expiryOf(expiresAt))}
        <Failure text={failure.value} />
      </span>
      {rights.mayWrite && (
        <div class="buttons">
          <button
            type="button"
            disabled={isUnderWay.value}
            aria-label={words.restoreOne(path)}
            onClick={() => void restore()}
          >
            {isUnderWay.value ? words.restoring : words.restore}
          </button>
          <button
            type="button"
            class="danger"
            aria-label={words.eraseOne(path)}
            onClick={() => ask(true)}
          >
            {words.erase}
          </button>
        </div>
      )}
      {isAsking.value && (
        <EraseDialog
          session={session}
          bucket={bucket}
          file={file}
          onGone={onGone}
          onClose={() => ask(false)}
        />
      )}
    </li>
  );
}

function EraseDialog(props: Omit<OneFileProps, 'rights'> & { onClose(): void }) {
  const { session, bucket, file, onGone, onClose } = props;
  const { path } = file;
  const { deleted: words } = texts();
  async function erase(): Promise<void> {
    await requireDeleted({ storage: session.storage, bucket }, path);
    const { held } = await session.storage.versions.erase({ bucket, path });
    if (held > 0) throw new Error(words.heldStay(held));
    onClose();
    onGone();
  }
  return (
    <ConfirmDialog
      title={words.eraseTitle(nameOf(path))}
      label={words.erase}
      underWay={words.erasing}
      confirm={erase}
      onClose={onClose}
    >
      {words.eraseQuestion}
    </ConfirmDialog>
  );
}
