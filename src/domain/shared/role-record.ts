// The record of the canister's role in a service (service-role.ts), in the meta map:
//
//   serviceRole -> 0: version 1 | kind u8 (0 volume, 1 front) | texts: of a volume the front's id
//                  and URL, both '' without a front; of a front its own id, then its volumes' ids

import { encodeUtf8 } from '../../lib/text.ts';
import { RecordReader, RecordWriter } from '../../storage/codec.ts';
import { Refusal } from './refusal.ts';
import type { ServiceRole, VolumeRole } from './service-role.ts';
import type { Stores } from './stores.ts';

const version = 1;
const roleKey = 'serviceRole';
const kinds = ['volume', 'front'] as const;
const alone: VolumeRole = { kind: 'volume', front: undefined };

export function serviceRole(stores: Stores): ServiceRole {
  // An aborted message rolls heap and stable memory back together.
  stores.heap.role ??= storedRole(stores) ?? alone;
  return stores.heap.role;
}

export function isFront(stores: Stores): boolean {
  return serviceRole(stores).kind === 'front';
}

/** Returns `undefined` if neither an argument nor a call has ever set a role. */
export function storedRole(stores: Stores): ServiceRole | undefined {
  const stored = stores.meta.get(encodeUtf8(roleKey));
  if (stored === undefined) return undefined;
  const reader = new RecordReader(stored, version);
  const kind = kinds[reader.u8()];
  const [id = '', ...others] = reader.texts();
  if (kind === 'front') return { kind, id, volumes: others };
  return { kind: 'volume', front: id === '' ? undefined : { id, url: others[0] ?? '' } };
}

export function saveRole(stores: Stores, role: ServiceRole): void {
  const { kind } = role;
  const texts =
    kind === 'front' ? [role.id, ...role.volumes] : [role.front?.id ?? '', role.front?.url ?? ''];
  const record = new RecordWriter(version).u8(kinds.indexOf(kind)).finish(texts);
  stores.meta.set(encodeUtf8(roleKey), record);
  stores.heap.role = role;
}

/** Whether the canister is a whole service: a volume without a front. */
export function isAlone(stores: Stores): boolean {
  const role = serviceRole(stores);
  return role.kind === 'volume' && role.front === undefined;
}

/** Refuses operations of volumes if the canister is a front. */
export function refuseAtFront(stores: Stores): void {
  const role = serviceRole(stores);
  if (role.kind !== 'front') return;
  const [volume] = role.volumes;
  throw new Refusal(
    'MethodNotAllowed',
    'This canister is a front and stores no files: ' +
      `call ${volume === undefined ? 'one of its volumes' : `its volume ${volume}`}.`,
  );
}
