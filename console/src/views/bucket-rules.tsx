// The rules of a bucket, which delete what is old. The service replaces all rules at once, and one
// node lists them, so an owner confirms the whole list that will apply.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { BucketRecord } from '../../../packages/client/src/types/buckets.ts';
import type { BucketRule, StoredRule } from '../../../packages/client/src/types/rules.ts';
import { sentenceOf } from '../failures.ts';
import { texts } from '../language.ts';
import { tell } from '../notices.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Failure } from '../parts/failure.tsx';
import { Field } from '../parts/field.tsx';
import { type RuleAction, ruleActions, ruleWords, scopeWords } from '../rule-words.ts';
import { type BucketProps, isOwner } from './bucket-role.ts';

/** A change that waits for the owner's confirmation. */
interface Asked {
  /** All rules after the change. */
  readonly rules: readonly BucketRule[];
  /** Undefined if the change removes a rule. */
  readonly added?: BucketRule | undefined;
}

export function BucketRules(props: BucketProps) {
  const { session, record } = props;
  const { rules: words, page } = texts();
  const rules = useSignal<readonly StoredRule[] | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const asked = useSignal<Asked | undefined>(undefined);
  async function load(): Promise<void> {
    failure.value = undefined;
    try {
      // An owner's change sends the list back: a rule that one node leaves out would be removed
      const certified = isOwner(props);
      rules.value = await session.storage.rules.list(record.id, { certified });
    } catch (error) {
      failure.value = sentenceOf(error);
    }
  }
  useEffect(() => void load(), []);
  const { value: found } = rules;
  // Keys of a canister without a front read no rules.
  if (found === undefined && !isOwner(props)) return null;
  const ask = (next: Asked | undefined) => {
    asked.value = next;
  };
  return (
    <section class="card" aria-labelledby="rules">
      <h2 id="rules">{words.title}</h2>
      <Failure text={failure.value} onRetry={() => void load()} />
      {found === undefined && failure.value === undefined && <p>{page.loading}</p>}
      {found?.length === 0 && <p>{words.none}</p>}
      <ul class="lines">
        {found?.map((rule) => (
          <li key={rule.id}>
            <RuleLine rule={rule} />
            {isOwner(props) && (
              <button
                type="button"
                aria-label={words.removeOne(rule.id)}
                onClick={() => ask({ rules: found.filter(({ id }) => id !== rule.id) })}
              >
                {page.remove}
              </button>
            )}
          </li>
        ))}
      </ul>
      {found && isOwner(props) && (
        <NewRule
          key={found.length}
          record={record}
          onAsk={(added) => ask(withRule(found, added))}
        />
      )}
      {asked.value && (
        <AskRules
          {...props}
          asked={asked.value}
          onChanged={(next) => {
            rules.value = next;
          }}
          onClose={() => ask(undefined)}
        />
      )}
    </section>
  );
}

function RuleLine({ rule }: { rule: BucketRule }) {
  return (
    <span>
      <strong>
        <bdi>{scopeWords(rule)}</bdi>
      </strong>
      <br />
      {ruleWords(rule)}
    </span>
  );
}

function withRule(present: readonly StoredRule[], rule: Omit<BucketRule, 'id'>): Asked {
  const ids = new Set(present.map(({ id }) => id));
  let number = 1;
  while (ids.has(`rule-${number}`)) number += 1;
  const added = { ...rule, id: `rule-${number}` };
  return { rules: [...present, added], added };
}

interface NewRuleProps extends Pick<BucketProps, 'record'> {
  onAsk(rule: Omit<BucketRule, 'id'>): void;
}

/** Shows the rule as a sentence while it is typed. */
function NewRule({ record, onAsk }: NewRuleProps) {
  const { rules: words } = texts();
  const action = useSignal<RuleAction>('deleteAfterDays');
  const count = useSignal('');
  const prefix = useSignal('');
  const tag = useSignal('');
  const rule = {
    prefix: prefix.value.trim() || undefined,
    tag: tag.value.trim() || undefined,
    [action.value]: Number(count.value),
  };
  const submit = (event: Event) => {
    event.preventDefault();
    onAsk(rule);
  };
  return (
    <form onSubmit={submit}>
      <label>
        {words.action}
        <select
          value={action.value}
          onChange={({ currentTarget }) => {
            action.value = currentTarget.value as RuleAction;
          }}
        >
          {ruleActions.map((one) => (
            <option key={one} value={one}>
              {words.actions[one]}
            </option>
          ))}
        </select>
      </label>
      <Field label={words.counts[action.value]} value={count} digits={digits} isRequired />
      {/* Prefixes of sealed names would match no stored path. */}
      {record.endToEnd?.sealsNames !== true && (
        <Field label={words.prefix} value={prefix} hint={words.prefixHint} />
      )}
      <Field label={words.tag} value={tag} hint={words.tagHint} />
      {Number(count.value) > 0 && (
        <p role="status">
          <RuleLine rule={{ id: '', ...rule }} />
        </p>
      )}
      <button type="submit">{words.add}</button>
    </form>
  );
}

/** A number of at least 1. */
const digits = '[1-9][0-9]{0,5}';

interface AskRulesProps extends Pick<BucketProps, 'session' | 'record'> {
  readonly asked: Asked;
  onChanged(rules: readonly StoredRule[]): void;
  onClose(): void;
}

function AskRules({ session, record, asked, onChanged, onClose }: AskRulesProps) {
  const { rules, added } = asked;
  const { rules: words, page, members } = texts();
  async function change(): Promise<void> {
    onChanged(await session.storage.rules.set(record.id, rules));
    tell(added ? page.added : words.removed);
    onClose();
  }
  return (
    <ConfirmDialog
      title={added ? words.addTitle : words.removeTitle}
      label={added ? words.add : words.remove}
      underWay={added ? members.adding : members.removing}
      confirm={change}
      onClose={onClose}
    >
      {added ? <p class="failure">{warningOf(added, record)}</p> : <p>{words.removeMeans}</p>}
      <p>{rules.length === 0 ? words.noneThen : words.allThen}</p>
      <ul class="lines">
        {rules.map((rule) => (
          <li key={rule.id}>
            <RuleLine rule={rule} />
          </li>
        ))}
      </ul>
    </ConfirmDialog>
  );
}

function warningOf(rule: BucketRule, { keepVersionsDays }: BucketRecord): string {
  const { rules: words } = texts();
  const isUndoable = rule.deleteAfterDays !== undefined && keepVersionsDays > 0;
  const after = isUndoable ? words.restorable(keepVersionsDays) : texts().deletion.isFinal;
  return `${words.soon} ${after}`;
}
