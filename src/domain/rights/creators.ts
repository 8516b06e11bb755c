// The principals that may create buckets: the canister's controllers, and those that they allow.

import { bytesEqual, concatBytes } from '../../lib/bytes.ts';
import { encodeUtf8 } from '../../lib/text.ts';
import { bucketCreatorCountMax } from '../../limits.ts';
import { RecordReader } from '../../storage/codec.ts';
import { type Call, type Caller, isAnonymous, requireController } from '../shared/caller.ts';
import { Refusal } from '../shared/refusal.ts';
import { serviceRole } from '../shared/role-record.ts';
import type { Stores } from '../shared/stores.ts';
import {
  type BudgetName,
  type BudgetSizes,
  budgetNames,
  parseBudget,
  saveBudget,
} from './budgets.ts';
import { requireNameable } from './members.ts';

// 0: version 1 | count u8 | principals (length u8, bytes); in the meta map
const version = 1;
const creatorsKey = 'bucketCreators';

function bucketCreators(stores: Stores): Uint8Array[] {
  const bytes = stores.meta.get(encodeUtf8(creatorsKey));
  if (bytes === undefined) {
    return [];
  }
  const reader = new RecordReader(bytes, version);
  return Array.from({ length: reader.u8() }, () => reader.bytes());
}

function mayCreateBuckets(stores: Stores, caller: Caller): boolean {
  if (caller.isController || isAnonymous(caller)) {
    return caller.isController;
  }
  return bucketCreators(stores).some((principal) => bytesEqual(principal, caller.principal));
}

/** Refuses callers that may not create buckets. A volume with a front refuses all of them. */
export function requireCreator(stores: Stores, { caller }: Call): void {
  const front = frontOf(stores);
  if (front !== undefined) {
    throw new Refusal(
      'AccessDenied',
      `The front ${front} creates the buckets of this volume: call createBucket of the front, such ` +
        `as with efs --front ${front}.`,
    );
  }
  if (mayCreateBuckets(stores, caller)) return;
  throw new Refusal(
    'AccessDenied',
    'Only controllers of the canister and principals that they allow may create buckets: call ' +
      'with the identity that deployed it, or let it allow your principal by updateAccess.',
  );
}

/** Returns the id of a volume's front; `undefined` without one, and at a front. */
function frontOf(stores: Stores): string | undefined {
  const role = serviceRole(stores);
  return role.kind === 'volume' ? role.front?.id : undefined;
}

export interface CreatorsChange {
  readonly allow: readonly Uint8Array[];
  readonly disallow: readonly Uint8Array[];
  /** New sizes of budgets; absent ones keep their sizes. */
  readonly budgets?: Readonly<Partial<Record<BudgetName, BudgetSizes | undefined>>>;
}

/** Allows and disallows principals to create buckets; returns all allowed ones. For controllers. */
export function updateCreators(stores: Stores, call: Call, change: CreatorsChange): Uint8Array[] {
  requireController(call);
  const front = frontOf(stores);
  if (front !== undefined && change.allow.length > 0) {
    throw new Refusal(
      'InvalidArgument',
      `The front ${front} decides who may create buckets: call updateAccess of the front.`,
    );
  }
  change.allow.forEach(requireNameable);
  const budgets = budgetNames.flatMap((name) => {
    const sizes = change.budgets?.[name];
    return sizes === undefined ? [] : [{ name, allowance: parseBudget(name, sizes) }];
  });
  const touched = [...change.allow, ...change.disallow];
  const kept = bucketCreators(stores).filter((principal) => !includes(touched, principal));
  const creators = [...kept, ...change.allow.filter(isFirst)];
  if (creators.length > bucketCreatorCountMax) {
    throw new Refusal(
      'QuotaExceeded',
      `At most ${bucketCreatorCountMax} principals may be allowed to create buckets: disallow one first.`,
      { limit: bucketCreatorCountMax },
    );
  }
  const parts = creators.flatMap((principal) => [Uint8Array.of(principal.length), principal]);
  const record = concatBytes(Uint8Array.of(version, creators.length), ...parts);
  stores.meta.set(encodeUtf8(creatorsKey), record);
  for (const { name, allowance } of budgets) saveBudget(stores, name, allowance);
  return creators;
}

function includes(principals: readonly Uint8Array[], sought: Uint8Array): boolean {
  return principals.some((principal) => bytesEqual(principal, sought));
}

function isFirst(principal: Uint8Array, index: number, all: readonly Uint8Array[]): boolean {
  return !includes(all.slice(0, index), principal);
}
