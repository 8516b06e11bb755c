// The signed-in caller and its storage. A key's secret is stored only in memory and sessionStorage,
// and in localStorage if the user chose to stay signed in.

import { signal } from '@preact/signals';
import {
  type FolderAddress,
  folderAddressOf,
  shownPrefix,
} from '../../packages/client/src/links/folder-address.ts';
import type { Storage } from '../../packages/client/src/storage.ts';
import { isStorageError } from '../../packages/client/src/storage-error.ts';
import type { EndToEndOptions } from '../../packages/client/src/types/end-to-end.ts';
import type { IdentitySession } from './identities.ts';
import { loadedTexts } from './language.ts';
import type { OpenedService } from './opened-service.ts';
import { isLocal, thisService } from './service.ts';

export interface DropBox {
  readonly bucket: string;
  /** Ends in a slash; '' for the whole bucket. */
  readonly folder: string;
  /** Digest of the recipients; `none` for a bucket without end-to-end; absent in old addresses. */
  readonly recipients?: string | undefined;
  /** A text of the owner for the senders; '' for none. */
  readonly message?: string | undefined;
}

/** A folder that the holder of a link reads. */
export interface SharedFolder {
  readonly bucket: string;
  /** Ends in a slash; '' for the whole bucket. */
  readonly folder: string;
  /** The parts of the address, with the secret of an end-to-end bucket's folder. */
  readonly address: FolderAddress;
}

interface KeySession {
  readonly kind: 'key';
  readonly apiKey: string;
  /** The buckets that the user named, because a key cannot list its buckets. */
  readonly buckets: readonly string[];
  /** Set if the key belongs to a drop box; then no other view is shown. */
  readonly drop?: DropBox | undefined;
  /** Set if the key belongs to a folder's link; then only this folder is shown. */
  readonly shared?: SharedFolder | undefined;
}

type Kept = KeySession | IdentitySession;

export interface Session extends OpenedService {
  readonly kind: Kept['kind'];
  /** Principal of an identity. */
  readonly principal?: string | undefined;
  /** Buckets of a key. */
  readonly buckets?: readonly string[] | undefined;
  readonly drop?: DropBox | undefined;
  readonly shared?: SharedFolder | undefined;
}

/** Whether the page was opened by an address for one folder, without the rest of the console. */
export function isGuest({ drop, shared }: Session): boolean {
  return (drop ?? shared) !== undefined;
}

export const session = signal<Session | undefined>(undefined);

/** The digest of a drop box's recipients that the user has not accepted. */
export const otherRecipients = signal<string | undefined>(undefined);

const keptName = 'efs-session';

/** Stores the session. A session of this tab only does not replace the remembered session. */
function keep(kept: Kept, isRemembered: boolean): void {
  const place = isRemembered ? localStorage : sessionStorage;
  if (isRemembered) sessionStorage.removeItem(keptName);
  place.setItem(keptName, JSON.stringify(kept));
}

/** Whether the session in use is the remembered one. */
function isRemembered(): boolean {
  return sessionStorage.getItem(keptName) === null;
}

function readKept(): Kept | undefined {
  const text = sessionStorage.getItem(keptName) ?? localStorage.getItem(keptName);
  try {
    return text === null ? undefined : (JSON.parse(text) as Kept);
  } catch {
    return undefined;
  }
}

/** Whether a user is signed in with something other than this API key or owner's key. */
export function isSignedInOtherwise(key: string): boolean {
  const kept = readKept();
  if (kept === undefined) return false;
  if (kept.kind === 'key') return kept.apiKey !== key;
  return kept.kind !== 'local-owner' || kept.ownerKey !== key;
}

async function keySession({ apiKey, buckets, drop, shared }: KeySession): Promise<Session> {
  const service = await thisService();
  const folder = shared?.address;
  const opened = service.isAtFront
    ? (await import('./front-session.ts')).openByKey(service, { apiKey, folder }, pinsOf(drop))
    : (await import('./plain-session.ts')).openByKey(service, apiKey);
  return { kind: 'key', ...opened, buckets, drop, shared };
}

/** Uploads fail unless the user accepted the recipients or they are those of the address. */
function pinsOf(drop: DropBox | undefined): EndToEndOptions {
  if (drop === undefined) return {};
  const { bucket, recipients } = drop;
  return {
    ...(recipients !== undefined && { pinnedRecipients: { [bucket]: recipients } }),
    acceptRecipients({ actual }) {
      const isAccepted = session.value?.drop?.recipients === actual;
      if (!isAccepted) otherRecipients.value = actual;
      return isAccepted;
    },
  };
}

/** Signs in after a test of the key; throws StorageError if it gives no right to the bucket. */
export async function signInByKey(
  apiKey: string,
  { bucket, isRemembered: shallRemember }: { bucket: string; isRemembered: boolean },
): Promise<void> {
  const kept: KeySession = { kind: 'key', apiKey, buckets: [bucket] };
  const opened = await keySession(kept);
  await requireBucket(opened.stored, bucket);
  keep(kept, shallRemember);
  session.value = opened;
}

/** Signs in to a drop box, only in this tab: a remembered session of other tabs stays. */
export async function openDropBox(apiKey: string, drop: DropBox): Promise<void> {
  const kept: KeySession = { kind: 'key', apiKey, buckets: [drop.bucket], drop };
  keep(kept, false);
  session.value = await keySession(kept);
}

/** Opens the folder of a link, only in this tab. A volume's page stores no end-to-end secret. */
export async function openSharedFolder(address: FolderAddress): Promise<void> {
  const { key: apiKey, bucket, sealed } = address;
  if (sealed !== undefined && !(await thisService()).isAtFront) {
    throw new Error((await loadedTexts()).folderLink.needsFront);
  }
  const shared = { bucket, folder: shownPrefix(address), address };
  const kept: KeySession = { kind: 'key', apiKey, buckets: [shared.bucket], shared };
  keep(kept, false);
  session.value = await keySession(kept);
}

/** Accepts other recipients of the open drop box, in this tab and after a reload of it. */
export function acceptRecipients(recipients: string): void {
  const { value: current } = session;
  const kept = readKept();
  if (current?.drop === undefined || kept?.kind !== 'key') return;
  const drop = { ...current.drop, recipients };
  keep({ ...kept, drop }, false);
  session.value = { ...current, drop };
}

/** Throws unless the bucket accepts the key. A key that may only write is accepted too. */
async function requireBucket(storage: Storage, bucket: string): Promise<void> {
  try {
    await storage.listFolder({ bucket, delimiter: '/', limit: 1 });
  } catch (error) {
    if (!isStorageError(error, 'AccessDenied')) throw error;
  }
}

/** Returns the secret of the session's key, to open another connection with it. */
export function secretOf({ kind }: Session): string | undefined {
  const kept = readKept();
  return kind === 'key' && kept?.kind === 'key' ? kept.apiKey : undefined;
}

/** Adds another bucket of the same key to the session. */
export async function addBucket(bucket: string): Promise<void> {
  const kept = readKept();
  if (kept?.kind !== 'key' || session.value === undefined) return;
  await requireBucket(session.value.storage, bucket);
  const buckets = [...new Set([...kept.buckets, bucket])];
  keep({ ...kept, buckets }, isRemembered());
  session.value = { ...session.value, buckets };
}

async function identitySession(kept: IdentitySession): Promise<Session | undefined> {
  const { identityOf, identityStore } = await import('./identities.ts');
  const { kind } = kept;
  const identity = await identityOf(kept);
  if (identity === undefined) return undefined;
  const service = await thisService();
  const opened = service.isAtFront
    ? (await import('./front-session.ts')).openByIdentity(service, identity, {
        store: identityStore,
      })
    : (await import('./plain-session.ts')).openByIdentity(service, identity);
  return { kind, ...opened, principal: identity.getPrincipal().toText() };
}

/** Signs in with an identity; the user must have completed Internet Identity's window before. */
export async function signInByIdentity(
  kind: 'device' | 'internet-identity',
  shallRemember: boolean,
): Promise<void> {
  const opened = await identitySession({ kind });
  if (opened === undefined) return;
  keep({ kind }, shallRemember);
  session.value = opened;
}

/** Signs in as the owner of a service on a local replica, in this tab only. */
export async function signInAsLocalOwner(ownerKey: string): Promise<void> {
  if (!isLocal()) throw new Error((await loadedTexts()).failures.ownerNotLocal);
  const kept: IdentitySession = { kind: 'local-owner', ownerKey };
  const opened = await identitySession(kept);
  keep(kept, false);
  session.value = opened;
}

/** Replaces the identity's session by one without cached bucket modes. */
export async function renewSession(): Promise<void> {
  const kept = readKept();
  if (kept !== undefined && kept.kind !== 'key') session.value = await identitySession(kept);
}

/** Restores the session after a reload. */
export async function restoreSession(): Promise<void> {
  const kept = readKept();
  if (kept === undefined) return;
  session.value = await (kept.kind === 'key' ? keySession(kept) : identitySession(kept));
}

/** Deletes the decryption identities, but not the device's key, so that its principal stays. */
export async function signOut(): Promise<void> {
  const { kind } = session.value ?? {};
  sessionStorage.removeItem(keptName);
  localStorage.removeItem(keptName);
  session.value = undefined;
  if (kind !== undefined && kind !== 'key') {
    await (await import('./identities.ts')).forgetIdentity();
  }
}

/** The parameters of an address with a key. */
interface ToldKey {
  /** Key of the owner, in the address that `npm start` prints; '' in others. */
  readonly ownerKey: string;
  readonly apiKey: string;
  readonly bucket: string;
  /** The folder of a drop box. */
  readonly folder: string | undefined;
  readonly recipients: string | undefined;
  readonly message: string | undefined;
  /** The folder of a link. */
  readonly shared: FolderAddress | undefined;
}

/** Whether the fragment of an address contains a key. */
export function hasKey(fragment: string): boolean {
  return /^#(?:key|owner|link)=/.test(fragment);
}

/**
 * Reads `#key=efs_…&bucket=demo`, `#owner=…`, as `npm start` prints it, or the address of a drop
 * box or of a folder's link. Removes it from the address bar at once, so that neither the history
 * nor a copied address contains it.
 */
export function takeKeyOfAddress(): ToldKey | undefined {
  const { hash } = location;
  if (!hasKey(hash)) return undefined;
  const told = new URLSearchParams(hash.slice(1));
  history.replaceState(null, '', location.pathname);
  const text = (name: string) => told.get(name) ?? undefined;
  return {
    ownerKey: text('owner') ?? '',
    apiKey: text('key') ?? '',
    bucket: text('bucket') ?? '',
    recipients: text('recipients'),
    message: text('message'),
    folder: text('folder'),
    // A link that is cut off is no key for the whole console
    shared: told.has('link') ? folderAddressOf(hash) : undefined,
  };
}
