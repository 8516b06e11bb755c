// The API key in an address such as `/#key=efs_…&bucket=demo`. Anybody can send such an address, so
// that uploads go to a bucket of the sender. The key therefore replaces a session only after the
// user has agreed.

import { signal } from '@preact/signals';
import { go } from './route.ts';
import { session, signInAsLocalOwner, signInByKey } from './session.ts';
import { offeredKey } from './start.ts';

export interface AddressKey {
  readonly apiKey: string;
  /** '' if the address names none. */
  readonly bucket: string;
  /** The key of a local service's owner, instead of an API key; '' in other addresses. */
  readonly ownerKey: string;
}

/** The key that waits for the user's consent. */
export const askedKey = signal<AddressKey | undefined>(undefined);

/** Signs in with the key, in this tab only. Without a bucket, shows the form that asks for one. */
export async function openAddressKey(told: AddressKey): Promise<void> {
  const { apiKey, bucket, ownerKey } = told;
  if (ownerKey !== '') {
    await signInAsLocalOwner(ownerKey);
    go({ view: 'overview' });
    return;
  }
  offeredKey.value = told;
  if (bucket === '') {
    session.value = undefined;
    return;
  }
  await signInByKey(apiKey, { bucket, isRemembered: false });
  go({ view: 'files', bucket, prefix: '' });
}
