// The dialog that moves or copies entries into a folder, also of another bucket.

import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { BucketRecord } from '../../../packages/client/src/types/buckets.ts';
import { signedRecordOf } from '../bucket-record.ts';
import { sentenceOf } from '../failures.ts';
import { newArrangement, passageRefusal, targetsIn, type Watch } from '../files/arrange.ts';
import { texts } from '../language.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Failure } from '../parts/failure.tsx';
import { Field } from '../parts/field.tsx';
import { useTask } from '../parts/task.ts';
import type { Session } from '../session.ts';
import { nameOf, placeName } from '../words.ts';
import { FolderPicker, type FolderPlace } from './folder-picker.tsx';
import { arrangeEntries } from './move-entries.ts';
import type { SelectionProps } from './selection-props.ts';

/** Returns the typed folder with a slash at the end; '' without a name. */
function folderText(text: string): string {
  const names = text.split('/').map((name) => name.trim());
  return names
    .filter((name) => name !== '')
    .map((name) => `${name}/`)
    .join('');
}

/** Loads the buckets that the caller may write to. An API key cannot list buckets. */
function useBuckets({ kind, storage }: Session) {
  const buckets = useSignal<readonly BucketRecord[]>([]);
  const failure = useSignal<string | undefined>(undefined);
  async function load(): Promise<void> {
    const found: BucketRecord[] = [];
    for await (const record of storage.buckets.list()) {
      if (record.callerRole === 'owner' || record.callerRole === 'writer') found.push(record);
    }
    buckets.value = found;
  }
  useEffect(() => {
    if (kind === 'key') return;
    load().catch((error) => {
      failure.value = sentenceOf(error);
    });
  }, []);
  return { buckets, failure };
}

type Known = Pick<BucketRecord, 'id'> & Partial<BucketRecord>;

/** Says who loses or gains access to files in another bucket. */
function Effects({ kind, passage }: { kind: 'move' | 'copy'; passage: readonly [Known, Known] }) {
  const [from, to] = passage;
  if (from.id === to.id) return null;
  const { moving: words } = texts();
  return (
    <>
      {to.isPublic && !from.isPublic && <p>{words.becomesPublic(to.id)}</p>}
      {kind === 'move' && <p>{words.linksEnd(from.id)}</p>}
    </>
  );
}

/** Throws if the network signs other settings of the target than one node has listed. */
async function confirmTarget(
  session: Session,
  bucket: string,
  buckets: Signal<readonly BucketRecord[]>,
): Promise<void> {
  const signed = await signedRecordOf(session, bucket);
  const listed = buckets.value.find(({ id }) => id === bucket);
  buckets.value = buckets.value.map((record) => (record.id === bucket ? signed : record));
  const settings = (record?: BucketRecord) => [record?.isPublic, record?.endToEnd !== undefined];
  if (settings(signed).join() === settings(listed).join()) return;
  throw new Error(texts().moving.differs(bucket));
}

/** Counts the moved or copied files of an attempt, which can be stopped between two of them. */
function useWatch() {
  const fileCount = useSignal(0);
  const controller = useRef(new AbortController());
  return {
    fileCount,
    begin(): Watch {
      controller.current = new AbortController();
      fileCount.value = 0;
      return {
        signal: controller.current.signal,
        onFile() {
          fileCount.value += 1;
        },
      };
    },
    stop: () => controller.current.abort(),
  };
}

export function MoveDialog(props: SelectionProps & { kind: 'move' | 'copy'; onClose(): void }) {
  const { kind, target, entries, onClose } = props;
  const { bucket, prefix, session } = target;
  const place = useSignal<FolderPlace>({ bucket, prefix });
  const name = useSignal('');
  const { buckets, failure: unlisted } = useBuckets(session);
  const { isUnderWay, failure, run } = useTask();
  const { current: done } = useRef(newArrangement());
  const { fileCount, begin, stop } = useWatch();
  const recordOf = (id: string) => buckets.value.find((record) => record.id === id) ?? { id };
  const passage = [recordOf(bucket), recordOf(place.value.bucket)] as const;
  const refusal = passageRefusal(...passage);
  const folder = place.value.prefix + folderText(name.value);
  const submit = (event: Event) => {
    event.preventDefault();
    void run(async () => {
      const { bucket: toBucket } = place.value;
      if (toBucket !== bucket) await confirmTarget(session, toBucket, buckets);
      const watch = begin();
      const targetOf = targetsIn(folder, kind === 'copy' && toBucket === bucket);
      await arrangeEntries(props, { kind, toBucket, prefix: folder, targetOf, done, watch });
      onClose();
    });
  };
  const { moving: words, page, selection } = texts();
  const isMove = kind === 'move';
  const [first, ...others] = entries;
  const only = first && others.length === 0 ? nameOf(first.path) : undefined;
  const title = (isMove ? words.moveTitle : words.copyTitle)(only, entries.length);
  const to = placeName(place.value.bucket, folder);
  const label = (isMove ? words.moveTo : words.copyTo)(only, entries.length, to);
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit}>
        <FolderPicker
          storage={session.storage}
          place={place}
          buckets={buckets.value.map(({ id }) => id)}
          // A folder cannot go into itself.
          isClosed={(folder) =>
            folder.bucket === bucket && entries.some(({ path }) => path === folder.prefix)
          }
        />
        <Field label={words.newFolder} value={name} hint={words.newFolderHint} />
        <Effects kind={kind} passage={passage} />
        <Failure text={unlisted.value} />
        <Failure text={refusal ?? failure.value} />
        {isUnderWay.value && fileCount.value > 0 && (
          <p role="status">{words.soFar(fileCount.value)}</p>
        )}
        <div class="buttons">
          <button
            type="submit"
            class="main long"
            disabled={isUnderWay.value || refusal !== undefined}
          >
            {!isUnderWay.value ? label : isMove ? words.movingNow : words.copyingNow}
          </button>
          <button type="button" onClick={isUnderWay.value ? stop : onClose}>
            {isUnderWay.value ? selection.stop : page.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
