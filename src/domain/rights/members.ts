// Members of buckets: principals that owners added, each with a role. The owner in the bucket's
// record and the canister's controllers are owners without being listed here.

import { present } from '../../lib/assert.ts';
import { bytesEqual, concatBytes } from '../../lib/bytes.ts';
import { decodeUtf8, encodeUtf8, hasBidiControl, hasControlCharacter } from '../../lib/text.ts';
import { memberNameBytesMax } from '../../limits.ts';
import { RecordReader } from '../../storage/codec.ts';
import { type Caller, isAnonymous } from '../shared/caller.ts';
import { quote } from '../shared/names.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';

const roles = ['reader', 'writer', 'owner'] as const;
/** reader: reads; writer: also writes and deletes files; owner: everything. */
export type Role = (typeof roles)[number];

export interface Member {
  /** 1 to 29 bytes. */
  readonly principal: Uint8Array;
  readonly role: Role;
  /** A name that owners chose, for owners. */
  readonly name?: string | undefined;
}

// 0: version 2 | count u8 | for each: principal (length u8, bytes), role u8, name (length u8,
// UTF-8). Version 1 has no names. The key in the map is the bucket id.
const version = 2;
const versionWithoutNames = 1;

export function membersOf(stores: Stores, bucketId: string): Member[] {
  const bytes = stores.members.get(encodeUtf8(bucketId));
  if (bytes === undefined) {
    return [];
  }
  const reader = new RecordReader(bytes, version, versionWithoutNames);
  return Array.from({ length: reader.u8() }, () => {
    const member = { principal: reader.bytes(), role: roles[reader.u8()] ?? 'reader' };
    return reader.version === versionWithoutNames ? member : { ...member, name: readName(reader) };
  });
}

function readName(reader: RecordReader): string | undefined {
  const name = present(decodeUtf8(reader.bytes()), 'well-formed name of a member');
  return name === '' ? undefined : name;
}

export function saveMembers(stores: Stores, bucketId: string, members: readonly Member[]): void {
  const key = encodeUtf8(bucketId);
  if (members.length === 0) {
    if (stores.members.has(key)) stores.members.delete(key);
    return;
  }
  const parts = members.flatMap(({ principal, role, name = '' }) => {
    const nameBytes = encodeUtf8(name);
    return [
      Uint8Array.of(principal.length),
      principal,
      Uint8Array.of(roles.indexOf(role), nameBytes.length),
      nameBytes,
    ];
  });
  stores.members.set(key, concatBytes(Uint8Array.of(version, members.length), ...parts));
}

interface Owned {
  readonly id: string;
  readonly owner: Uint8Array;
}

/** Returns the caller's role in the bucket; `undefined` without one and for anonymous callers. */
export function roleOf(stores: Stores, caller: Caller, bucket: Owned): Role | undefined {
  if (caller.isController) {
    return 'owner';
  }
  if (isAnonymous(caller)) {
    return undefined;
  }
  if (bytesEqual(caller.principal, bucket.owner)) {
    return 'owner';
  }
  const members = membersOf(stores, bucket.id);
  return members.find(({ principal }) => bytesEqual(principal, caller.principal))?.role;
}

export function isBucketOwner(stores: Stores, caller: Caller, bucket: Owned): boolean {
  return roleOf(stores, caller, bucket) === 'owner';
}

export function parseRole(text: string): Role {
  const role = roles.find((known) => known === text);
  if (role === undefined) {
    throw new Refusal(
      'InvalidArgument',
      `The role of a member is one of ${roles.join(', ')}; got ${quote(text)}.`,
    );
  }
  return role;
}

/** Returns the name without spaces around it; '' for no name. */
export function parseMemberName(text: string): string {
  const name = text.trim();
  const isTooLong = encodeUtf8(name).length > memberNameBytesMax;
  if (isTooLong || hasControlCharacter(name) || hasBidiControl(name)) {
    throw new Refusal(
      'InvalidArgument',
      `The name of a member has at most ${memberNameBytesMax} bytes of UTF-8 and no control ` +
        `character; got ${quote(text)}.`,
    );
  }
  return name;
}

/** Refuses the anonymous principal, which anybody can use, and the management canister's. */
export function requireNameable(principal: Uint8Array): void {
  if (principal.length === 0 || isAnonymous({ principal, isController: false })) {
    throw new Refusal(
      'InvalidArgument',
      'The anonymous principal cannot be a member, because anybody can call as it: name another principal.',
    );
  }
}
