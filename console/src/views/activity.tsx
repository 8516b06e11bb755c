// The activity of a bucket or of a file: who changed what, and when, newest first.

import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { Activity, type Group, groups, type Wanted, wantedEntries } from '../activity.ts';
import { texts } from '../language.ts';
import { CopyText } from '../parts/copy-text.tsx';
import { Failure } from '../parts/failure.tsx';
import { Field } from '../parts/field.tsx';
import { Icon } from '../parts/icon.tsx';
import { addressOf, type Route } from '../route.ts';
import type { Session } from '../session.ts';
import { nameOf } from '../words.ts';
import { ActivityEntry, type Names } from './activity-entry.tsx';
import { BucketHead } from './bucket-head.tsx';
import { type Rights, useRights } from './bucket-role.ts';

interface ActivityProps {
  readonly session: Session;
  readonly place: Extract<Route, { view: 'activity' }>;
}

export function ActivityPage({ session, place }: ActivityProps) {
  const rights = useRights(session, place.bucket);
  return (
    <div class="page">
      <BucketHead place={place} rights={rights} />
      {session.kind === 'key' ? (
        <p>{texts().activity.forMembers}</p>
      ) : (
        <Changes session={session} place={place} rights={rights} />
      )}
    </div>
  );
}

function Changes({ session, place, rights }: ActivityProps & { readonly rights: Rights }) {
  const { bucket, path } = place;
  const { activity: words, copying, deleted, page } = texts();
  const activity = useMemo(() => new Activity(session.storage, bucket), []);
  const group = useSignal<Group | ''>('');
  const text = useSignal('');
  const wanted: Wanted = { group: group.value || undefined, text: text.value.trim(), path };
  const load = () => void activity.loadMore(wanted);
  useEffect(() => {
    load();
    return () => activity.close();
  }, []);
  const isBegun = activity.entries.value.length > 0 && activity.failure.value === undefined;
  const hasMore = isBegun && activity.state.value !== 'complete';
  const names = useNames(session, bucket, rights);
  const command = `efs journal verify ${bucket}`;
  return (
    <>
      <p class="quiet">{words.oneNode}</p>
      <CopyText text={command} label={copying.theCommand(command)} />
      {path !== undefined && (
        <p class="buttons">
          <a class="button" href={addressOf({ view: 'file', bucket, path })}>
            <bdi>{words.ofFile(nameOf(path))}</bdi>
          </a>
          <a class="button" href={addressOf({ view: 'activity', bucket })}>
            {words.ofBucket}
          </a>
        </p>
      )}
      <Filters group={group} text={text} />
      <Entries activity={activity} wanted={wanted} bucket={bucket} names={names} />
      <Failure text={activity.failure.value} onRetry={load} />
      {hasMore && (
        <p>
          {/* Stays while it loads, so that it keeps the focus */}
          <button type="button" onClick={load}>
            {activity.state.value === 'loading' ? page.loading : deleted.showMore}
          </button>
        </p>
      )}
    </>
  );
}

/** Names that owners have given to members and keys. */
function useNames(session: Session, bucket: string, { isOwner, memberNames }: Rights): Names {
  const keys = useSignal<Names['keys']>(new Map());
  useEffect(() => {
    if (!isOwner) return;
    session.storage.keys.list(bucket).then(
      (found) => {
        keys.value = new Map(found.map(({ id, name }) => [id, name]));
      },
      // Entries show the ids of keys without a known name.
      () => {},
    );
  }, [isOwner]);
  return { self: session.principal, members: memberNames, keys: keys.value };
}

function Filters({ group, text }: { group: Signal<Group | ''>; text: Signal<string> }) {
  const { activity: words } = texts();
  return (
    <form class="line-form filters" onSubmit={(event) => event.preventDefault()}>
      <label>
        {words.group}
        <select
          value={group.value}
          onChange={({ currentTarget }) => {
            group.value = currentTarget.value as Group | '';
          }}
        >
          <option value="">{words.groups.all}</option>
          {groups.map((one) => (
            <option key={one} value={one}>
              {words.groups[one]}
            </option>
          ))}
        </select>
      </label>
      <Field label={words.path} value={text} />
    </form>
  );
}

interface EntriesProps {
  readonly activity: Activity;
  readonly wanted: Wanted;
  readonly bucket: string;
  readonly names: Names;
}

function Entries({ activity, wanted, bucket, names }: EntriesProps) {
  const { activity: words, page } = texts();
  const { value: read } = activity.entries;
  const { value: state } = activity.state;
  const found = wantedEntries(read, wanted);
  const isEmpty = found.length === 0 && state === 'complete';
  return (
    <>
      <ul class="lines">
        {found.map((entry) => (
          <ActivityEntry key={entry.seq} entry={entry} bucket={bucket} names={names} />
        ))}
      </ul>
      <div class={isEmpty ? 'blank' : undefined}>
        {isEmpty && <Icon name="search" />}
        <p class="state" role="status">
          {state === 'loading' && page.loading}
          {state === 'more' && read.length > 0 && words.part(found.length, read.length)}
          {state === 'complete' && !isEmpty && words.all(found.length)}
          {isEmpty && (read.length === 0 ? words.none : words.noneFound)}
        </p>
      </div>
    </>
  );
}
