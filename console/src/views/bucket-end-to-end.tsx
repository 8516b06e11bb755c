// The end-to-end encryption of a bucket and its recipients. Owners can switch the encryption on or
// off only while the bucket is empty.

import { useSignal } from '@preact/signals';
import type { BucketRecord } from '../../../packages/client/src/types/buckets.ts';
import type { EndToEndRecord } from '../../../packages/client/src/types/end-to-end.ts';
import { texts } from '../language.ts';
import { tell } from '../notices.ts';
import { Checkbox } from '../parts/checkbox.tsx';
import { CopyText } from '../parts/copy-text.tsx';
import { Failure } from '../parts/failure.tsx';
import { Field } from '../parts/field.tsx';
import { useTask } from '../parts/task.ts';
import { renewSession } from '../session.ts';
import { whenWithin } from '../words.ts';
import { type BucketProps, isOwner } from './bucket-role.ts';

export function BucketEndToEnd(props: BucketProps) {
  const { endToEnd } = props.record;
  const { endToEnd: words } = texts();
  return (
    <section class="card" aria-labelledby="end-to-end">
      <h2 id="end-to-end">{words.title}</h2>
      {endToEnd ? <Mode mode={endToEnd} {...props} /> : <NotYet {...props} />}
    </section>
  );
}

function isEmpty({ fileCount, versionCount, openUploads }: BucketRecord): boolean {
  return fileCount + versionCount + openUploads === 0;
}

/** Changes the bucket, and reloads its mode, because the cached one may be minutes old. */
function useModeChange({ record, onChanged }: BucketProps) {
  const task = useTask();
  const change = (work: () => Promise<BucketRecord>, said: string) =>
    task.run(async () => {
      const changed = await work();
      await renewSession();
      onChanged({ ...record, ...changed });
      tell(said);
    });
  return { ...task, change };
}

function NotYet(props: BucketProps) {
  const { session, record } = props;
  const { endToEnd: words } = texts();
  const sealsNames = useSignal(false);
  const { isUnderWay, failure, change } = useModeChange(props);
  const begin = async () => {
    const endToEnd = { sealsNames: sealsNames.value };
    await session.storage.buckets.update(record.id, { endToEnd });
    await session.publishRecipient?.(record.id);
    return session.storage.buckets.get(record.id);
  };
  return (
    <>
      <p>{words.readable}</p>
      {session.publishRecipient === undefined && <p class="quiet">{words.needsFront}</p>}
      {isOwner(props) && session.publishRecipient && !isEmpty(record) && (
        <p class="quiet">{words.needsEmpty}</p>
      )}
      {isOwner(props) && session.publishRecipient && isEmpty(record) && (
        <>
          <Checkbox label={words.sealsNames} value={sealsNames} />
          <button
            type="button"
            disabled={isUnderWay.value}
            onClick={() => void change(begin, words.begun)}
          >
            {isUnderWay.value ? texts().page.changing : words.begin}
          </button>
        </>
      )}
      <Failure text={failure.value} />
    </>
  );
}

type ModeProps = BucketProps & { readonly mode: EndToEndRecord };

function Mode(props: ModeProps) {
  const { session, record, mode } = props;
  const { endToEnd: words } = texts();
  const { isUnderWay, failure, change } = useModeChange(props);
  const end = () => session.storage.buckets.update(record.id, { isEndToEnd: false });
  return (
    <>
      <p>{words.mode(mode.usesVetKeys, mode.sealsNames)}</p>
      {mode.usesVetKeys && <Identity {...props} />}
      <Recipients {...props} />
      {isOwner(props) && isEmpty(record) && (
        <button
          type="button"
          disabled={isUnderWay.value}
          onClick={() =>
            void change(async () => ({ ...(await end()), endToEnd: undefined }), words.ended)
          }
        >
          {isUnderWay.value ? texts().page.changing : words.end}
        </button>
      )}
      <Failure text={failure.value} />
    </>
  );
}

function Identity(props: ModeProps) {
  const { session, record, mode } = props;
  const { isUnderWay, failure, change } = useModeChange(props);
  const { endToEnd: words } = texts();
  const newest = mode.epochs.at(-1);
  const told = newest?.recipient ? words.identity : words.unpublishedIdentity;
  const rotate = async () => {
    await session.storage.buckets.rotateIdentity(record.id);
    await session.publishRecipient?.(record.id);
    return session.storage.buckets.get(record.id);
  };
  return (
    <>
      {newest && <p>{told(newest.epoch, whenWithin(newest.openedAt))}</p>}
      {isOwner(props) && (
        <>
          <p class="quiet">{words.rotateHint}</p>
          <button
            type="button"
            disabled={isUnderWay.value}
            onClick={() => void change(rotate, words.rotated)}
          >
            {isUnderWay.value ? words.rotating : words.rotate}
          </button>
        </>
      )}
      <Failure text={failure.value} />
    </>
  );
}

function Recipients(props: ModeProps) {
  const { mode, session, record } = props;
  const { endToEnd: words } = texts();
  const added = useSignal('');
  const { isUnderWay, failure, change } = useModeChange(props);
  const set = (recipients: readonly string[], said: string) =>
    change(() => session.storage.buckets.update(record.id, { endToEnd: { recipients } }), said);
  const add = async (event: Event) => {
    event.preventDefault();
    await set([...mode.recipients, added.value.trim()], words.recipientAdded);
    if (failure.value === undefined) added.value = '';
  };
  if (mode.recipients.length === 0 && !isOwner(props)) return null;
  return (
    <>
      <h3>{words.recipients}</h3>
      {mode.recipients.length === 0 && <p class="quiet">{words.noRecipients}</p>}
      <ul class="lines">
        {mode.recipients.map((one) => (
          <li key={one}>
            <CopyText text={one} shown={shortOf(one)} label={texts().copying.recipient} />
            {isOwner(props) && (
              <button
                type="button"
                class="danger"
                disabled={isUnderWay.value}
                aria-label={words.removeOne(shortOf(one))}
                onClick={() => void set(without(mode.recipients, one), words.recipientRemoved)}
              >
                {texts().page.remove}
              </button>
            )}
          </li>
        ))}
      </ul>
      {isOwner(props) && (
        <form class="line-form" onSubmit={(event) => void add(event)}>
          <Field label={words.recipient} value={added} isRequired />
          <button type="submit" disabled={isUnderWay.value}>
            {isUnderWay.value ? texts().page.changing : texts().page.add}
          </button>
          <Failure text={failure.value} />
        </form>
      )}
    </>
  );
}

function without(all: readonly string[], one: string): string[] {
  return all.filter((other) => other !== one);
}

/** Shortens a recipient; those of post-quantum identities have thousands of characters. */
function shortOf(recipient: string): string {
  return `${recipient.slice(0, 14)}…${recipient.slice(-6)}`;
}
