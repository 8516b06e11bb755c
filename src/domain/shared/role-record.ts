// The record of the canister's role in a service (service-role.ts), in the meta map:
//
//   serviceRole -> 0: version 1 | kind u8 (0 volume, 1 front) | texts: its own id; of a
//                  volume the front's id and URL, both '' without one; of a front its volumes' ids

import { encodeUtf8 } from '../../lib/text.ts';
import { RecordReader, RecordWriter } from '../../storage/codec.ts';
import { Refusal } from './refusal.ts';
import type { ServiceRole, VolumeRole } from './service-role.ts';
import type { Stores } from './stores.ts';

const version = 1;
const roleKey = 'serviceRole';
const kinds = ['volume', 'front'] as const;
const alone: VolumeRole = { kind: 'volume', id: '', front: undefined };

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
  const [front = '', url = ''] = others;
  return { kind: 'volume', id, front: front === '' ? undefined : { id: front, url } };
}

export function saveRole(stores: Stores, role: ServiceRole): void {
  const { kind } = role;
  const others = kind === 'front' ? role.volumes : [role.front?.id ?? '', role.front?.url ?? ''];
  const record = new RecordWriter(version).u8(kinds.indexOf(kind)).finish([role.id, ...others]);
  stores.meta.set(encodeUtf8(roleKey), record);
  stores.heap.role = role;
}

/**
 * Returns the address of the front's page that opens links of this volume and decrypts end-to-end
 * files; `undefined` without a front.
 */
export function linkPageOf(stores: Stores): string | undefined {
  const role = serviceRole(stores);
  if (role.kind === 'front' || role.front === undefined) return undefined;
  return `${role.front.url}/s/${role.id}`;
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
