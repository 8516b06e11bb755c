// The members of a bucket.

import { useSignal } from '@preact/signals';
import type { BucketMember } from '../../../packages/client/src/types/buckets.ts';
import { tell } from '../notices.ts';
import { Failure } from '../parts/failure.tsx';
import { Field } from '../parts/field.tsx';
import { useTask } from '../parts/task.ts';
import type { BucketProps } from './bucket-role.ts';

const roles = [
  ['reader', 'Reader'],
  ['writer', 'Writer'],
  ['owner', 'Owner'],
] as const;

export function BucketMembers(props: BucketProps) {
  const { session, record } = props;
  return (
    <section class="card" aria-labelledby="members">
      <h2 id="members">Members</h2>
      {!props.isSigned && <p class="quiet">Asking the network to sign this list …</p>}
      <ul class="lines">
        {record.members.map((member) => (
          <Member
            key={member.principal}
            member={member}
            isSelf={member.principal === session.principal}
            {...props}
          />
        ))}
      </ul>
      <p class="quiet">
        A reader lists and downloads files, a writer also uploads and deletes them, and an owner may
        do everything.
      </p>
      <AddMember {...props} />
    </section>
  );
}

function Member(props: BucketProps & { member: BucketMember; isSelf: boolean }) {
  const { session, record, isSigned, member, isSelf, onChanged } = props;
  const { principal, role, name } = member;
  const { isUnderWay, failure, run } = useTask();
  const remove = () =>
    run(async () => {
      onChanged(await session.storage.buckets.update(record.id, { removeMembers: [principal] }));
      tell('Removed, with the keys and links of this member for the bucket.');
    });
  return (
    <li>
      <span>
        {name !== undefined && <strong>{name} </strong>}
        <code class="principal">{principal}</code> {isSelf ? `${role}, you` : role}
        <Failure text={failure.value} />
      </span>
      {!isSelf && (
        <button
          type="button"
          class="danger"
          // A node could show a name beside another member's principal.
          disabled={isUnderWay.value || !isSigned}
          aria-label={`Remove ${name ?? principal}`}
          onClick={() => void remove()}
        >
          {isUnderWay.value ? 'Removing …' : 'Remove'}
        </button>
      )}
    </li>
  );
}

function AddMember({ session, record, onChanged }: BucketProps) {
  const principal = useSignal('');
  const name = useSignal('');
  const role = useSignal('writer');
  const { isUnderWay, failure, run } = useTask();
  const submit = (event: Event) => {
    event.preventDefault();
    void run(async () => {
      const wanted = { principal: principal.value.trim(), role: role.value };
      // Without a text, a member who is only given another role keeps the name.
      const added = { ...wanted, ...(name.value !== '' && { name: name.value }) };
      onChanged(await session.storage.buckets.update(record.id, { addMembers: [added] }));
      principal.value = '';
      name.value = '';
      tell('Added.');
    });
  };
  return (
    <form class="line-form" onSubmit={submit}>
      <Field label="Principal" value={principal} isRequired />
      <Field label="Name" value={name} hint="Optional; owners see it beside the principal." />
      <label>
        Role
        <select
          value={role.value}
          onChange={({ currentTarget }) => {
            role.value = currentTarget.value;
          }}
        >
          {roles.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" disabled={isUnderWay.value}>
        {isUnderWay.value ? 'Adding …' : 'Add'}
      </button>
      <Failure text={failure.value} />
    </form>
  );
}
