// The members of a bucket.

import { useSignal } from '@preact/signals';
import type { BucketMember } from '../../../packages/client/src/types/buckets.ts';
import { texts } from '../language.ts';
import { tell } from '../notices.ts';
import { Failure } from '../parts/failure.tsx';
import { Field } from '../parts/field.tsx';
import { useTask } from '../parts/task.ts';
import type { BucketProps } from './bucket-role.ts';

export function BucketMembers(props: BucketProps) {
  const { session, record } = props;
  const { members: words } = texts();
  return (
    <section class="card" aria-labelledby="members">
      <h2 id="members">{words.title}</h2>
      {!props.isSigned && <p class="quiet">{words.asking}</p>}
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
      <p class="quiet">{words.rights}</p>
      <AddMember {...props} />
    </section>
  );
}

function Member(props: BucketProps & { member: BucketMember; isSelf: boolean }) {
  const { session, record, isSigned, member, isSelf, onChanged } = props;
  const { principal, role, name } = member;
  const { members: words } = texts();
  const roleOf: Readonly<Record<string, string>> = words.roleOf;
  const shownRole = roleOf[role] ?? role;
  const { isUnderWay, failure, run } = useTask();
  const remove = () =>
    run(async () => {
      onChanged(await session.storage.buckets.update(record.id, { removeMembers: [principal] }));
      tell(words.removed);
    });
  return (
    <li>
      <span>
        {name !== undefined && (
          <strong>
            <bdi>{name}</bdi>{' '}
          </strong>
        )}
        <code class="principal">{principal}</code> {isSelf ? words.you(shownRole) : shownRole}
        <Failure text={failure.value} />
      </span>
      {!isSelf && (
        <button
          type="button"
          class="danger"
          // A node could show a name beside another member's principal.
          disabled={isUnderWay.value || !isSigned}
          aria-label={words.removeOne(name ?? principal)}
          onClick={() => void remove()}
        >
          {isUnderWay.value ? words.removing : texts().page.remove}
        </button>
      )}
    </li>
  );
}

function AddMember({ session, record, onChanged }: BucketProps) {
  const { members: words, page } = texts();
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
      tell(texts().page.added);
    });
  };
  return (
    <form class="line-form" onSubmit={submit}>
      <Field label={words.principal} value={principal} hint={words.principalHint} isRequired />
      <Field label={words.name} value={name} hint={words.nameHint} />
      <label>
        {words.role}
        <select
          value={role.value}
          onChange={({ currentTarget }) => {
            role.value = currentTarget.value;
          }}
        >
          {Object.entries(words.roles).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" disabled={isUnderWay.value}>
        {isUnderWay.value ? words.adding : page.add}
      </button>
      <Failure text={failure.value} />
    </form>
  );
}
