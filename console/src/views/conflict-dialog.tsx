// The question about uploads whose names exist: one answer for all, or one for each file. Shows
// the size and the date of both files.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { FileRecord } from '../../../packages/client/src/types/files.ts';
import { texts } from '../language.ts';
import { Dialog } from '../parts/dialog.tsx';
import type { UploadItem } from '../uploads/item.ts';
import { cancelUploads, chooseForAll, retryUpload } from '../uploads/queue.ts';
import { nameOf, sizeOf, whenWithin } from '../words.ts';

interface ConflictProps {
  /** Uploads that wait for an answer, at least one. */
  readonly items: readonly UploadItem[];
  /** Further files may turn out to exist. */
  readonly hasMore: boolean;
  onClose(): void;
}

const comparedMax = 3;

export function ConflictDialog({ items, hasMore, onClose }: ConflictProps) {
  const isEach = useSignal(false);
  const isOne = isEach.value || (items.length === 1 && !hasMore);
  const shown = items.slice(0, isOne ? 1 : comparedMax);
  const [first] = shown;
  const { uploads: words } = texts();
  const name = nameOf(first?.path ?? '');
  const more = items.length - shown.length;
  return (
    <Dialog title={isOne ? words.oneExists(name) : words.someExist(items.length)} onClose={onClose}>
      {shown.map((item) => (
        <Compared key={item.id} item={item} hasName={!isOne} />
      ))}
      {more > 0 && <p class="quiet">{words.more(more)}</p>}
      {!isOne && hasMore && <p class="quiet">{words.answerForAll}</p>}
      <div class="buttons">
        {isOne && first ? (
          <Answers
            labels={[words.replace, words.keepBoth, words.skip]}
            onReplace={() => retryUpload(first, 'replace')}
            onBoth={() => retryUpload(first, 'both')}
            onSkip={() => cancelUploads([first])}
          />
        ) : (
          <Answers
            labels={[words.replaceAll, words.keepBoth, words.skipAll]}
            onReplace={() => chooseForAll('replace')}
            onBoth={() => chooseForAll('both')}
            onSkip={() => chooseForAll('skip')}
          />
        )}
        {!isOne && (
          <button
            type="button"
            onClick={() => {
              isEach.value = true;
            }}
          >
            {words.decideEach}
          </button>
        )}
      </div>
    </Dialog>
  );
}

interface AnswersProps {
  readonly labels: readonly [replace: string, both: string, skip: string];
  onReplace(): void;
  onBoth(): void;
  onSkip(): void;
}

/** The answer that loses nothing is the main one. */
function Answers({ labels: [replace, both, skip], onReplace, onBoth, onSkip }: AnswersProps) {
  return (
    <>
      <button type="button" class="main" data-first onClick={onBoth}>
        {both}
      </button>
      <button type="button" onClick={onReplace}>
        {replace}
      </button>
      <button type="button" onClick={onSkip}>
        {skip}
      </button>
    </>
  );
}

function Compared({ item, hasName }: { item: UploadItem; hasName: boolean }) {
  const { storage, bucket, path, file } = item;
  const stored = useSignal<FileRecord | undefined>(undefined);
  useEffect(() => {
    // A key that may only write cannot read the record.
    storage.stat({ bucket, path }).then(
      (record) => {
        stored.value = record;
      },
      () => {},
    );
  }, [path]);
  const { uploads: words } = texts();
  const { value: record } = stored;
  const own = words.sizeAndDate(
    sizeOf(file.size),
    whenWithin(new Date(file.lastModified).toISOString()),
  );
  return (
    <div>
      {hasName && (
        <h3>
          <bdi>{nameOf(path)}</bdi>
        </h3>
      )}
      <dl class="facts">
        <div>
          <dt>{words.storedFile}</dt>
          <dd>
            {record ? words.sizeAndDate(sizeOf(record.size), whenWithin(record.updatedAt)) : '–'}
          </dd>
        </div>
        <div>
          <dt>{words.ownFile}</dt>
          <dd>{own}</dd>
        </div>
      </dl>
    </div>
  );
}
