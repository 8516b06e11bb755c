// The API keys of a bucket: a table, and a form for new ones. A secret is shown once.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { KeyRecord, Permission } from '../../../packages/client/src/types/keys.ts';
import { sentenceOf } from '../failures.ts';
import { texts } from '../language.ts';
import { CopyText } from '../parts/copy-text.tsx';
import { Failure } from '../parts/failure.tsx';
import { Field } from '../parts/field.tsx';
import { useTask } from '../parts/task.ts';
import { dayMs, distanceOf, sizeOf } from '../words.ts';
import type { BucketProps } from './bucket-role.ts';

const everything: readonly Permission[] = ['read', 'write', 'delete'];

/** Returns the service's own word for a permission that this page does not know. */
function permissionWord(permission: string): string {
  const words: Readonly<Record<string, unknown>> = texts().keys;
  return String(words[permission] ?? permission);
}

export function BucketKeys(props: BucketProps) {
  const { session, record } = props;
  const { keys: words } = texts();
  const keys = useSignal<readonly KeyRecord[] | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  async function load(): Promise<void> {
    try {
      keys.value = await session.storage.keys.list(record.id);
    } catch (error) {
      failure.value = sentenceOf(error);
    }
  }
  useEffect(() => void load(), []);
  return (
    <section class="card" aria-labelledby="keys">
      <h2 id="keys">{words.title}</h2>
      <Failure text={failure.value} />
      {keys.value?.length === 0 && <p>{words.none}</p>}
      {keys.value !== undefined && keys.value.length > 0 && (
        <KeyTable
          session={session}
          keys={keys.value}
          isSealed={record.endToEnd !== undefined}
          onGone={() => void load()}
        />
      )}
      <NewKey {...props} onMade={() => void load()} />
    </section>
  );
}

interface KeyTableProps extends Pick<BucketProps, 'session'> {
  readonly keys: readonly KeyRecord[];
  /** The bucket is end-to-end. */
  readonly isSealed: boolean;
  onGone(): void;
}

/** On a phone, each key is a block of lines with the names of the columns. */
function KeyTable({ keys, ...props }: KeyTableProps) {
  const { keys: words } = texts();
  const heads = [words.name, words.permissions, words.prefix, words.budget, words.expires];
  return (
    <table class="records">
      <thead>
        <tr>
          {heads.map((head) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
          <td />
        </tr>
      </thead>
      <tbody>
        {keys.map((key) => (
          <OneKey key={key.id} {...props} record={key} heads={heads} />
        ))}
      </tbody>
    </table>
  );
}

type OneKeyProps = Omit<KeyTableProps, 'keys'> & {
  readonly record: KeyRecord;
  readonly heads: readonly string[];
};

function OneKey({ session, record, heads, isSealed, onGone }: OneKeyProps) {
  const { name, hint, permissions, prefix, expiresAt } = record;
  const { keys: words } = texts();
  const { isUnderWay, failure, run } = useTask();
  const revoke = () =>
    run(async () => {
      // A folder's link in an end-to-end bucket also has a list of the files' keys.
      const isLink = isSealed && String(permissions) === 'read' && record.buckets.length === 1;
      if (isLink) await session.storage.folderLinks.remove(record.buckets[0] ?? '', record.id);
      else await session.storage.keys.revoke(record.id);
      onGone();
    });
  const cells = [
    permissions.map(permissionWord).join(', '),
    prefix ?? words.wholeBucket,
    budgetOf(record),
    expiresAt === undefined ? words.never : distanceOf(Date.parse(expiresAt) - Date.now()),
  ];
  return (
    <tr>
      <th scope="row">
        <bdi>{name || hint}</bdi>
        <Failure text={failure.value} />
      </th>
      {cells.map((cell, index) => (
        <td key={heads[index + 1]} data-head={heads[index + 1]}>
          <bdi>{cell}</bdi>
        </td>
      ))}
      <td>
        <button
          type="button"
          class="danger"
          disabled={isUnderWay.value}
          aria-label={words.revokeOne(name || hint)}
          onClick={() => void revoke()}
        >
          {isUnderWay.value ? words.revoking : words.revoke}
        </button>
      </td>
    </tr>
  );
}

function budgetOf({ updatesPerHour, bytesPerHour }: KeyRecord): string {
  const { keys: words } = texts();
  const limits = [
    ...(updatesPerHour === undefined ? [] : [words.writesPerHour(updatesPerHour)]),
    ...(bytesPerHour === undefined ? [] : [words.bytesPerHour(sizeOf(bytesPerHour))]),
  ];
  return limits.join(', ') || words.noLimit;
}

function NewKey({ session, record, onMade }: BucketProps & { onMade(): void }) {
  const { keys: words } = texts();
  const name = useSignal('');
  const prefix = useSignal('');
  const days = useSignal('');
  const permissions = useSignal<readonly Permission[]>(['read']);
  const secret = useSignal<string | undefined>(undefined);
  const { isUnderWay, failure, run } = useTask();
  const submit = (event: Event) => {
    event.preventDefault();
    void run(async () => {
      const limit = Number(days.value) * dayMs;
      const made = await session.storage.keys.create({
        name: name.value.trim(),
        buckets: [record.id],
        permissions: permissions.value,
        prefix: prefix.value.trim() || undefined,
        expiresAt: limit > 0 ? new Date(Date.now() + limit) : undefined,
      });
      secret.value = made.secret;
      name.value = '';
      onMade();
    });
  };
  return (
    <form onSubmit={submit}>
      <Field label={words.newName} value={name} isRequired />
      <Field label={words.newPrefix} value={prefix} hint={words.prefixHint} />
      <Field label={words.days} value={days} digits="[1-9][0-9]{0,3}" hint={words.daysHint} />
      <Permissions chosen={permissions.value} onChosen={(next) => (permissions.value = next)} />
      <button type="submit" disabled={isUnderWay.value || permissions.value.length === 0}>
        {isUnderWay.value ? words.creating : words.create}
      </button>
      <Failure text={failure.value} />
      {secret.value !== undefined && (
        <div class="made" role="status">
          <p>{words.once}</p>
          <CopyText text={secret.value} label={texts().copying.key} />
        </div>
      )}
    </form>
  );
}

interface PermissionsProps {
  readonly chosen: readonly Permission[];
  onChosen(chosen: readonly Permission[]): void;
}

function Permissions({ chosen, onChosen }: PermissionsProps) {
  return (
    <fieldset>
      <legend>{texts().keys.permissions}</legend>
      {everything.map((permission) => (
        <label key={permission} class="check">
          <input
            type="checkbox"
            checked={chosen.includes(permission)}
            onChange={({ currentTarget }) => {
              const others = chosen.filter((one) => one !== permission);
              onChosen(currentTarget.checked ? [...others, permission] : others);
            }}
          />
          {permissionWord(permission)}
        </label>
      ))}
    </fieldset>
  );
}
