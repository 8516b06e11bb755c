// Members of buckets: principals that owners added, each with a role. The owner in the bucket's
// record and the canister's controllers are owners without being listed here.

import { bytesEqual, concatBytes } from '../../lib/bytes.ts';
import { encodeUtf8 } from '../../lib/text.ts';
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
}

// 0: version 1 | count u8 | for each: principal (length u8, bytes), role u8
// The key in the map is the bucket id.
const version = 1;

export function membersOf(stores: Stores, bucketId: string): Member[] {
  const bytes = stores.members.get(encodeUtf8(bucketId));
  if (bytes === undefined) {
    return [];
  }
  const reader = new RecordReader(bytes, version);
  return Array.from({ length: reader.u8() }, () => ({
    principal: reader.bytes(),
    role: roles[reader.u8()] ?? 'reader',
  }));
}

export function saveMembers(stores: Stores, bucketId: string, members: readonly Member[]): void {
  const key = encodeUtf8(bucketId);
  if (members.length === 0) {
    if (stores.members.has(key)) stores.members.delete(key);
    return;
  }
  const parts = members.flatMap(({ principal, role }) => [
    Uint8Array.of(principal.length),
    principal,
    Uint8Array.of(roles.indexOf(role)),
  ]);
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

/** Refuses the anonymous principal, which anybody can use, and the management canister's. */
export function requireNameable(principal: Uint8Array): void {
  if (principal.length === 0 || isAnonymous({ principal, isController: false })) {
    throw new Refusal(
      'InvalidArgument',
      'The anonymous principal cannot be a member, because anybody can call as it: name another principal.',
    );
  }
}
