// Sets the canister's role in a service (shared/role-record.ts): from the argument of install and
// upgrade, from environment variables of the deploying tool, or by calls of controllers.

import { frontUrlLengthMax, volumeCountMax } from '../../limits.ts';
import { noteUnreported } from '../buckets/public-buckets.ts';
import { type Call, requireController } from '../shared/caller.ts';
import { quote } from '../shared/names.ts';
import { Refusal } from '../shared/refusal.ts';
import { saveRole, serviceRole, storedRole } from '../shared/role-record.ts';
import { type Front, networkUrl, type ServiceRole } from '../shared/service-role.ts';
import type { Stores } from '../shared/stores.ts';
import { forgetVolume, requireFront } from './volume-states.ts';

/** Facts of an install or upgrade. */
export interface RoleSettings {
  /** The role in the argument; absent if the argument names no role. */
  readonly asked: { readonly kind: ServiceRole['kind']; readonly front?: string } | undefined;
  readonly isInstall: boolean;
  /** The canister's own id. */
  readonly id: string;
  /** Ids that the deploying tool set as environment variables. */
  readonly deployed: { readonly front: string | undefined; readonly volume: string | undefined };
}

/** Sets the role at install and upgrade. A stored role stays; a volume can get a front. */
export function configureRole(stores: Stores, settings: RoleSettings): void {
  decideRole(stores, settings);
  // Reads the record now, because what a query puts on the heap is discarded. The id of a volume
  // that never had a front is in no record.
  stores.heap.role = { ...serviceRole(stores), id: settings.id };
}

function decideRole(stores: Stores, { asked, isInstall, id, deployed }: RoleSettings): void {
  const stored = storedRole(stores);
  const kind = stored?.kind ?? (isInstall ? asked?.kind : undefined) ?? 'volume';
  if (asked !== undefined && asked.kind !== kind) {
    throw new Refusal(
      'InvalidArgument',
      `The argument names the role ${asked.kind}, but this canister is a ${kind}, and a role never ` +
        `changes: upgrade without a role, or install a ${asked.kind} in another canister.`,
    );
  }
  if (kind === 'front') {
    const listed = stored?.kind === 'front' ? stored.volumes : [];
    const found = listed.length === 0 && deployed.volume !== undefined && deployed.volume !== id;
    saveRole(stores, { kind, id, volumes: found ? [deployed.volume] : listed });
    return;
  }
  const front = asked?.front ?? (stored === undefined ? deployed.front : undefined);
  // A tool that deploys only this canister, under the front's name, passes this canister's id.
  if (front !== undefined && front !== id) saveRole(stores, { kind, id, front: frontAt(front) });
}

/** Uses the network's default gateway unless a URL is given. */
function frontAt(id: string, url = networkUrl(id)): Front {
  return { id, url: parseFrontUrl(url) };
}

// Sticky, because QuickJS retries other patterns at each character of a text that does not match.
const originPattern = /https:\/\/[a-z0-9.-]+(?::\d{1,5})?$/y;
const localPattern = /http:\/\/(?:[a-z0-9-]+\.)?(?:localhost|127\.0\.0\.1)(?::\d{1,5})?$/y;

/** The URL becomes a part of a page, so only a few characters are allowed. */
function parseFrontUrl(url: string): string {
  originPattern.lastIndex = 0;
  localPattern.lastIndex = 0;
  const isShort = url.length <= frontUrlLengthMax;
  if (isShort && (originPattern.test(url) || localPattern.test(url))) return url;
  throw new Refusal(
    'InvalidArgument',
    `The front's URL is an origin such as https://files.example.com, in lower case and of at most ` +
      `${frontUrlLengthMax} characters; got ${quote(url)}.`,
  );
}

export interface FrontChange {
  readonly id: string;
  readonly url: string | undefined;
}

/** Sets or removes the front of a volume, whose own id is `id`. For controllers. */
export function setFront(
  stores: Stores,
  call: Call,
  { id, front }: { readonly id: string; readonly front: FrontChange | undefined },
): void {
  requireController(call);
  const role = serviceRole(stores);
  if (role.kind !== 'volume') {
    throw new Refusal(
      'InvalidArgument',
      'This canister is a front itself: call setFront of a volume.',
    );
  }
  saveRole(stores, { kind: 'volume', id, front: front && frontAt(front.id, front.url) });
  noteUnreported(stores);
}

/** Adds a volume to a front or removes it. For controllers. */
export function changeVolumes(
  stores: Stores,
  call: Call,
  {
    add = [],
    remove = [],
  }: { readonly add?: readonly string[]; readonly remove?: readonly string[] },
): void {
  requireController(call);
  const role = requireFront(stores);
  const kept = role.volumes.filter((id) => !remove.includes(id) && !add.includes(id));
  const volumes = [...kept, ...add];
  if (volumes.length > volumeCountMax) {
    throw new Refusal(
      'QuotaExceeded',
      `A front has at most ${volumeCountMax} volumes: remove one first.`,
      { limit: volumeCountMax },
    );
  }
  if (add.includes(role.id)) {
    throw new Refusal('InvalidArgument', 'A front cannot be its own volume: add another canister.');
  }
  saveRole(stores, { ...role, volumes });
  for (const id of remove) forgetVolume(stores, id);
}
