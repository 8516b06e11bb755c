// One change as a sentence: what changed and who changed it, with the times.

import type { ComponentChildren } from 'preact';
import type { JournalActor, JournalEntry } from '../../../packages/client/src/types/journal.ts';
import { texts } from '../language.ts';
import { filled } from '../parts/filled.tsx';
import { addressOf } from '../route.ts';
import { agoOf, momentOf } from '../words.ts';

/** Names for the ids of the entries. */
export interface Names {
  /** The principal of the signed-in member. */
  readonly self: string | undefined;
  readonly members: ReadonlyMap<string, string>;
  readonly keys: ReadonlyMap<string, string>;
}

interface EntryProps {
  readonly entry: JournalEntry;
  readonly bucket: string;
  readonly names: Names;
}

export function ActivityEntry(props: EntryProps) {
  const { seq, at } = props.entry;
  return (
    <li>
      <span>
        {sentence(props)}
        <br />
        <small>
          <time dateTime={at}>{texts().activity.when(agoOf(at), momentOf(at), seq)}</time>
        </small>
      </span>
    </li>
  );
}

/** Returns a sentence, also about kinds that a later version of the service adds. */
function sentence({ entry, bucket, names }: EntryProps): ComponentChildren[] {
  const { kinds, redacted, removed, otherKind } = texts().activity;
  const { kind, by, path, formerPath, keyId, member, settings, version = '' } = entry;
  const who = actorName(by, names);
  const file =
    path === undefined ? (
      redacted
    ) : (
      <a href={addressOf({ view: 'file', bucket, path })}>
        <bdi>{path}</bdi>
      </a>
    );
  switch (kind) {
    case 'file.moved':
      return filled(kinds[kind], [who, <bdi key="former">{formerPath}</bdi>, file]);
    case 'key.created':
    case 'key.revoked':
      return filled(kinds[kind], [who, keyName(keyId, names)]);
    case 'member.changed': {
      const one = memberName(member, names);
      return entry.role === undefined
        ? filled(removed, [who, one])
        : filled(kinds[kind], [who, one, roleName(entry.role)]);
    }
    case 'bucket.changed':
      return filled(kinds[kind], [who, (settings ?? []).map(settingName).join(', ')]);
    default:
      return kind in kinds
        ? filled(kinds[kind as 'file.stored'], [who, file, version])
        : filled(otherKind, [who, kind, <bdi key="path">{path}</bdi>]);
  }
}

function actorName({ kind, id = '' }: JournalActor, names: Names): ComponentChildren {
  const { you, service, key } = texts().activity;
  if (kind === 'canister') return service;
  if (kind === 'apiKey') return filled(key, [keyName(id, names)]);
  return id === names.self ? you : memberName(id, names);
}

function keyName(id = '', { keys }: Names): ComponentChildren {
  return <bdi>{keys.get(id) ?? id}</bdi>;
}

function memberName(principal = '', { members }: Names): ComponentChildren {
  const name = members.get(principal);
  if (name !== undefined) return <bdi title={principal}>{name}</bdi>;
  const groups = principal.split('-');
  const isLong = groups.length > 5;
  const shown = isLong ? `${groups.slice(0, 2).join('-')}…${groups.at(-1)}` : principal;
  return (
    <code class="id" title={principal}>
      {shown}
    </code>
  );
}

function roleName(role: string): string {
  const words: Readonly<Record<string, string>> = texts().members.roleOf;
  return words[role] ?? role;
}

function settingName(name: string): string {
  const words: Readonly<Record<string, string>> = texts().activity.settings;
  return words[name] ?? name;
}
