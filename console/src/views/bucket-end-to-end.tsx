// Whether a bucket's files are encrypted before they are sent, and to whom: fixed while it has any.

import { useSignal } from '@preact/signals';
import type { BucketRecord } from '../../../packages/client/src/types/buckets.ts';
import type { EndToEndRecord } from '../../../packages/client/src/types/end-to-end.ts';
import { tell } from '../notices.ts';
import { Checkbox } from '../parts/checkbox.tsx';
import { CopyText } from '../parts/copy-text.tsx';
import { Failure } from '../parts/failure.tsx';
import { Field } from '../parts/field.tsx';
import { useTask } from '../parts/task.ts';
import { renewSession } from '../session.ts';
import { whenOf } from '../words.ts';
import { type BucketProps, isOwner } from './bucket-role.ts';

export function BucketEndToEnd(props: BucketProps) {
  const { endToEnd } = props.record;
  return (
    <section class="card" aria-labelledby="end-to-end">
      <h2 id="end-to-end">End to end</h2>
      {endToEnd ? <Mode mode={endToEnd} {...props} /> : <NotYet {...props} />}
    </section>
  );
}

function isEmpty({ fileCount, versionCount, openUploads }: BucketRecord): boolean {
  return fileCount + versionCount + openUploads === 0;
}

/** Reloads the bucket's mode: the cached one would be some minutes old. */
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
      <p>Files lie encrypted, but whoever runs the service could read them.</p>
      {session.publishRecipient === undefined && (
        <p class="quiet">
          End-to-end encryption needs a front, or the command efs: at this address a single node of
          the network could replace this page.
        </p>
      )}
      {isOwner(props) && session.publishRecipient && !isEmpty(record) && (
        <p class="quiet">While it is empty, a bucket can be made end-to-end.</p>
      )}
      {isOwner(props) && session.publishRecipient && isEmpty(record) && (
        <>
          <Checkbox label="Seal the names of files too" value={sealsNames} />
          <button
            type="button"
            disabled={isUnderWay.value}
            onClick={() => void change(begin, 'End-to-end now: only members open its files.')}
          >
            {isUnderWay.value ? 'Changing …' : 'Make it end-to-end'}
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
  const { isUnderWay, failure, change } = useModeChange(props);
  const end = () => session.storage.buckets.update(record.id, { isEndToEnd: false });
  return (
    <>
      <p>
        Files are encrypted before they are sent, and opened by{' '}
        {mode.usesVetKeys ? 'members.' : 'those who have the identity of a recipient below.'}{' '}
        {mode.sealsNames ? 'Their names are sealed.' : 'Names, sizes and times can be seen.'}
      </p>
      {mode.usesVetKeys && <Identity {...props} />}
      <Recipients {...props} />
      {isOwner(props) && isEmpty(record) && (
        <button
          type="button"
          disabled={isUnderWay.value}
          onClick={() =>
            void change(async () => ({ ...(await end()), endToEnd: undefined }), 'Off.')
          }
        >
          {isUnderWay.value ? 'Changing …' : 'Switch it off'}
        </button>
      )}
      <Failure text={failure.value} />
    </>
  );
}

function Identity(props: ModeProps) {
  const { session, record, mode } = props;
  const { isUnderWay, failure, change } = useModeChange(props);
  const newest = mode.epochs.at(-1);
  const rotate = async () => {
    await session.storage.buckets.rotateIdentity(record.id);
    await session.publishRecipient?.(record.id);
    return session.storage.buckets.get(record.id);
  };
  return (
    <>
      {newest && (
        <p>
          Identity {newest.epoch}, made {whenOf(newest.openedAt)}
          {!newest.recipient && ', which an owner’s first upload makes known'}
        </p>
      )}
      {isOwner(props) && (
        <>
          <p class="quiet">
            When somebody has left, rotate it: new files are for another identity then, which they
            do not get. What is stored stays as it is.
          </p>
          <button
            type="button"
            disabled={isUnderWay.value}
            onClick={() => void change(rotate, 'Rotated: new files are for the new identity.')}
          >
            {isUnderWay.value ? 'Rotating …' : 'Rotate the identity'}
          </button>
        </>
      )}
      <Failure text={failure.value} />
    </>
  );
}

function Recipients(props: ModeProps) {
  const { mode, session, record } = props;
  const added = useSignal('');
  const { isUnderWay, failure, change } = useModeChange(props);
  const set = (recipients: readonly string[], said: string) =>
    change(
      () => session.storage.buckets.update(record.id, { endToEnd: { recipients } }),
      `${said} It counts for files from now on.`,
    );
  const add = async (event: Event) => {
    event.preventDefault();
    await set([...mode.recipients, added.value.trim()], 'Added.');
    if (failure.value === undefined) added.value = '';
  };
  if (mode.recipients.length === 0 && !isOwner(props)) return null;
  return (
    <>
      <h3>Recipients of the owners’ own</h3>
      {mode.recipients.length === 0 && (
        <p class="quiet">None. An age key that you keep elsewhere would be a second way in.</p>
      )}
      <ul class="lines">
        {mode.recipients.map((one) => (
          <li key={one}>
            <CopyText text={one} shown={shortOf(one)} label="the recipient" />
            {isOwner(props) && (
              <button
                type="button"
                class="danger"
                disabled={isUnderWay.value}
                aria-label={`Remove ${shortOf(one)}`}
                onClick={() => void set(without(mode.recipients, one), 'Removed.')}
              >
                Remove
              </button>
            )}
          </li>
        ))}
      </ul>
      {isOwner(props) && (
        <form class="line-form" onSubmit={(event) => void add(event)}>
          <Field label="Recipient, age1…" value={added} isRequired />
          <button type="submit" disabled={isUnderWay.value}>
            {isUnderWay.value ? 'Changing …' : 'Add'}
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

/** Those of post-quantum identities have thousands of letters. */
function shortOf(recipient: string): string {
  return `${recipient.slice(0, 14)}…${recipient.slice(-6)}`;
}
