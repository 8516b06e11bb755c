// The API keys of a bucket: a list, and a form for new ones. A secret is shown once.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { KeyRecord, Permission } from '../../../packages/client/src/types/keys.ts';
import { sentenceOf } from '../failures.ts';
import { texts } from '../language.ts';
import { CopyText } from '../parts/copy-text.tsx';
import { Failure } from '../parts/failure.tsx';
import { Field } from '../parts/field.tsx';
import { useTask } from '../parts/task.ts';
import { dayMs, expiryOf } from '../words.ts';
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
      <ul class="lines">
        {keys.value?.map((key) => (
          <OneKey key={key.id} session={session} record={key} onGone={() => void load()} />
        ))}
      </ul>
      <NewKey {...props} onMade={() => void load()} />
    </section>
  );
}

type OneKeyProps = Pick<BucketProps, 'session'> & { readonly record: KeyRecord; onGone(): void };

function OneKey({ session, record, onGone }: OneKeyProps) {
  const { name, hint, permissions, prefix, expiresAt } = record;
  const { keys: words } = texts();
  const { isUnderWay, failure, run } = useTask();
  const revoke = () =>
    run(async () => {
      await session.storage.keys.revoke(record.id);
      onGone();
    });
  return (
    <li>
      <span>
        <strong>
          <bdi>{name || hint}</bdi>
        </strong>{' '}
        {words.may(permissions.map(permissionWord).join(', '), prefix ?? '', expiryOf(expiresAt))}
        <Failure text={failure.value} />
      </span>
      <button
        type="button"
        class="danger"
        disabled={isUnderWay.value}
        aria-label={words.revokeOne(name || hint)}
        onClick={() => void revoke()}
      >
        {isUnderWay.value ? words.revoking : words.revoke}
      </button>
    </li>
  );
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
      <Field label={words.name} value={name} isRequired />
      <Field label={words.prefix} value={prefix} hint={words.prefixHint} />
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
