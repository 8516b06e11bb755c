// Retention of the files that a bucket receives from now on. Owners set it after a confirmation,
// because nobody can shorten a retention in compliance mode.

import { useSignal } from '@preact/signals';
import type { RetentionMode, RetentionRule } from '../../../packages/client/src/types/retention.ts';
import { texts } from '../language.ts';
import { tell } from '../notices.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Failure } from '../parts/failure.tsx';
import { Field } from '../parts/field.tsx';
import { ModeSelect } from '../parts/mode-select.tsx';
import { useTask } from '../parts/task.ts';
import { retentionWords, scopeWords } from '../rule-words.ts';
import { type BucketProps, isOwner } from './bucket-role.ts';

export function BucketRetention(props: BucketProps) {
  const { retention: rules = [] } = props.record;
  const { retention: words } = texts();
  const asked = useSignal<RetentionRule | undefined>(undefined);
  const ask = (rule: RetentionRule | undefined) => {
    asked.value = rule;
  };
  return (
    <section class="card" aria-labelledby="retention">
      <h2 id="retention">{words.title}</h2>
      <p>{rules.length === 0 ? words.none : words.meaning}</p>
      <ul class="lines">
        {rules.map((rule) => (
          <OneRetention key={rule.prefix ?? ''} {...props} rule={rule} />
        ))}
      </ul>
      {isOwner(props) && <NewRetention key={rules.length} {...props} onAsk={ask} />}
      {asked.value && <AskRetention {...props} rule={asked.value} onClose={() => ask(undefined)} />}
    </section>
  );
}

function othersOf({ record }: BucketProps, { prefix = '' }: RetentionRule): RetentionRule[] {
  return (record.retention ?? []).filter((other) => (other.prefix ?? '') !== prefix);
}

type OneRetentionProps = BucketProps & { readonly rule: RetentionRule };

function OneRetention(props: OneRetentionProps) {
  const { session, record, isSigned, rule, onChanged } = props;
  const { page, retention: words } = texts();
  const { isUnderWay, failure, run } = useTask();
  const remove = () =>
    run(async () => {
      const retention = othersOf(props, rule);
      onChanged(await session.storage.buckets.update(record.id, { retention }));
      tell(words.removed);
    });
  return (
    <li>
      <span>
        <strong>
          <bdi>{scopeWords(rule)}</bdi>
        </strong>
        <br />
        {retentionWords(rule)}
        <Failure text={failure.value} />
      </span>
      {isOwner(props) && (
        <button
          type="button"
          // A change sends all rules, which a node could have invented.
          disabled={isUnderWay.value || !isSigned}
          aria-label={words.removeOne(scopeWords(rule))}
          onClick={() => void remove()}
        >
          {isUnderWay.value ? page.changing : page.remove}
        </button>
      )}
    </li>
  );
}

type NewRetentionProps = BucketProps & { onAsk(rule: RetentionRule): void };

function NewRetention({ record, isSigned, onAsk }: NewRetentionProps) {
  const { retention: words, rules } = texts();
  const mode = useSignal<RetentionMode>('governance');
  const days = useSignal('');
  const prefix = useSignal('');
  const submit = (event: Event) => {
    event.preventDefault();
    onAsk({
      mode: mode.value,
      days: Number(days.value),
      prefix: prefix.value.trim() || undefined,
    });
  };
  return (
    <form onSubmit={submit}>
      <ModeSelect mode={mode} />
      <Field label={words.days} value={days} digits="[1-9][0-9]{0,4}" isRequired />
      {record.endToEnd?.sealsNames !== true && (
        <Field label={rules.prefix} value={prefix} hint={rules.prefixHint} />
      )}
      <button type="submit" disabled={!isSigned}>
        {words.set}
      </button>
    </form>
  );
}

function AskRetention(props: OneRetentionProps & { onClose(): void }) {
  const { session, record, rule, onChanged, onClose } = props;
  const { retention: words, page } = texts();
  async function change(): Promise<void> {
    const retention = [...othersOf(props, rule), rule];
    onChanged(await session.storage.buckets.update(record.id, { retention }));
    tell(page.saved);
    onClose();
  }
  return (
    <ConfirmDialog
      title={words.askTitle}
      label={words.set}
      underWay={page.changing}
      confirm={change}
      onClose={onClose}
    >
      <p>
        <strong>
          <bdi>{scopeWords(rule)}</bdi>
        </strong>{' '}
        {retentionWords(rule)}
      </p>
      <p class={rule.mode === 'compliance' ? 'failure' : undefined}>{words.warnings[rule.mode]}</p>
    </ConfirmDialog>
  );
}
