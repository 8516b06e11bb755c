// The end-to-end encryption of a bucket and its recipients. Owners can switch the encryption on or
// off only while the bucket is empty.

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
      <h2 id="end-to-end">End-to-end encryption</h2>
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
      <p>Files are stored encrypted, but whoever runs the service could read them.</p>
      {session.publishRecipient === undefined && (
        <p class="quiet">
          End-to-end encryption needs a front, or the command efs: at this address a single node of
          the network could replace this page.
        </p>
      )}
      {isOwner(props) && session.publishRecipient && !isEmpty(record) && (
        <p class="quiet">Only an empty bucket can be made end-to-end.</p>
      )}
      {isOwner(props) && session.publishRecipient && isEmpty(record) && (
        <>
          <Checkbox label="Also encrypt the names of files" value={sealsNames} />
          <button
            type="button"
            disabled={isUnderWay.value}
            onClick={() => void change(begin, 'Now end-to-end: only members can read its files.')}
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
        Files are encrypted before they are sent, and can be decrypted by{' '}
        {mode.usesVetKeys ? 'members.' : 'whoever has the identity of a recipient below.'}{' '}
        {mode.sealsNames ? 'Their names are encrypted too.' : 'Names, sizes and times are visible.'}
      </p>
      {mode.usesVetKeys && <Identity {...props} />}
      <Recipients {...props} />
      {isOwner(props) && isEmpty(record) && (
        <button
          type="button"
          disabled={isUnderWay.value}
          onClick={() =>
            void change(async () => ({ ...(await end()), endToEnd: undefined }), 'Switched off.')
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
          Identity {newest.epoch}, created {whenOf(newest.openedAt)}
          {!newest.recipient && '; an owner’s first upload publishes its recipient'}
        </p>
      )}
      {isOwner(props) && (
        <>
          <p class="quiet">
            Rotate the identity when a member leaves: new files are then encrypted to another
            identity, which a former member does not get. Stored files do not change.
          </p>
          <button
            type="button"
            disabled={isUnderWay.value}
            onClick={() =>
              void change(rotate, 'Rotated: new files are encrypted to the new identity.')
            }
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
      `${said} This applies to new files.`,
    );
  const add = async (event: Event) => {
    event.preventDefault();
    await set([...mode.recipients, added.value.trim()], 'Added.');
    if (failure.value === undefined) added.value = '';
  };
  if (mode.recipients.length === 0 && !isOwner(props)) return null;
  return (
    <>
      <h3>Additional recipients</h3>
      {mode.recipients.length === 0 && (
        <p class="quiet">
          None. Add the recipient of your own age key to be able to recover files.
        </p>
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

/** Shortens a recipient; those of post-quantum identities have thousands of characters. */
function shortOf(recipient: string): string {
  return `${recipient.slice(0, 14)}…${recipient.slice(-6)}`;
}
