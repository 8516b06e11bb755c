// The service on a local replica: installed or upgraded, with an owner, a bucket to try and an API
// key. Uses the replica's in-process API and the canister's Candid interface; knows nothing of
// src/.

import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { writeFileDurably } from '../packages/replica/src/persistence/durable-file.ts';
import type { Replica } from '../packages/replica/src/replica.ts';

/** Contents of `.replica/service.json` for clients; it holds secrets. */
export interface ServiceDescription {
  readonly gateway: string;
  readonly url: string;
  readonly canisterId: string;
  readonly bucket: string;
  readonly apiKey: string;
  /** PKCS #8 of the owner's Ed25519 key. */
  readonly identityPem: string;
  /** The front, where the console is; absent for a volume without one. */
  readonly front?: LocalFront | undefined;
}

export interface LocalFront {
  readonly canisterId: string;
  /** Its address at the gateway. */
  readonly gateway: string;
  /** Ids of its volumes, beginning with the one at plain localhost. */
  readonly volumes: readonly string[];
}

const demoBucket = 'demo';

export interface LocalService {
  readonly replica: Replica;
  readonly stateDir: string;
  readonly wasm: Uint8Array;
  /** Also deploys a front. An existing front is upgraded in any case. */
  readonly hasFront?: boolean;
  /** Creates volumes until the front has this many; at least the existing ones stay. */
  readonly volumeCount?: number;
  /** Receives a sentence about anything unexpected. */
  readonly onNote?: (sentence: string) => void;
}

/**
 * Upgrades the canister of the state folder to this Wasm. At the first start, or after one that was
 * interrupted, creates whichever of canister, bucket and key is missing. Throws an Error if the
 * state is inconsistent.
 */
export async function deployLocally(service: LocalService): Promise<ServiceDescription> {
  const { replica, stateDir, wasm, onNote = () => undefined } = service;
  const path = join(stateDir, 'service.json');
  const former = await readDescription(path, onNote);
  const identityPem = await ownerIdentity(service, former);
  const canisterId = former?.canisterId ?? (await ownCanister(service, identityPem));
  await topUp(service.replica, canisterId);
  await bringCode(service, { canisterId, wasm });
  replica.serveAtPlainAddress(canisterId);
  const apiKey = former?.apiKey ?? (await createKeyAnew(replica, canisterId, identityPem));
  const front = await bringFront(service, { canisterId, identityPem });
  const description: ServiceDescription = {
    gateway: `http://${canisterId}.localhost:${replica.port}`,
    url: `http://localhost:${replica.port}`,
    canisterId,
    bucket: demoBucket,
    apiKey,
    identityPem,
    ...(front && { front }),
  };
  writeSecret(path, `${JSON.stringify(description, null, 2)}\n`);
  return description;
}

/** Writes the file completely or not at all. */
function writeSecret(path: string, text: string): void {
  writeFileDurably(path, [Buffer.from(text)]);
}

/** Returns `undefined` if the file does not exist or is incomplete. */
async function readDescription(
  path: string,
  onNote: (sentence: string) => void,
): Promise<ServiceDescription | undefined> {
  if (!existsSync(path)) return undefined;
  const text = await readFile(path, 'utf8');
  try {
    const found = JSON.parse(text) as Partial<ServiceDescription> | null;
    const needed = [found?.canisterId, found?.apiKey, found?.identityPem];
    if (needed.every((field) => typeof field === 'string')) return found as ServiceDescription;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  onNote(`${path} is empty or truncated: it is replaced, with a new API key.`);
  return undefined;
}

/**
 * Returns the owner's key from its own file or, if that is damaged, from the description. Creates
 * one if the state has no canister yet.
 */
async function ownerIdentity(
  { replica, stateDir }: LocalService,
  former: ServiceDescription | undefined,
): Promise<string> {
  const path = join(stateDir, 'identity.pem');
  const stored = existsSync(path) ? await readFile(path, 'utf8') : '';
  const isController = (pem: string) => controlled(replica, pem).length > 0;
  const candidates = [stored, former?.identityPem ?? ''].filter(isKey);
  const found = candidates.find(isController) ?? candidates[0];
  if (!hasOwnedCanister(replica) || (found !== undefined && isController(found))) {
    const pem = found ?? newIdentity();
    if (pem !== stored) writeSecret(path, pem);
    return pem;
  }
  throw new Error(
    `No canister in ${stateDir} belongs to the owner's key: ${path} is missing, damaged, or from ` +
      'another state. Restore it from a copy, name another folder with --state, or start with an empty state by --clean',
  );
}

/** Canisters that everybody controls are not the service. */
function hasOwnedCanister(replica: Replica): boolean {
  const all = replica.canisters().flatMap(({ controllers }) => controllers);
  return all.some((controller) => !controller.isAnonymous());
}

function isKey(pem: string): boolean {
  try {
    principalOf(pem);
    return true;
  } catch {
    return false;
  }
}

/** Returns the canisters of that owner, the oldest first. */
function controlled(replica: Replica, identityPem: string): readonly string[] {
  if (!isKey(identityPem)) return [];
  const owner = principalOf(identityPem).toText();
  return replica
    .canisters()
    .filter(({ controllers }) => controllers.some((one) => one.toText() === owner))
    .map(({ id }) => id.toText());
}

/** PEM (PKCS #8) of a new Ed25519 key. */
export function newIdentity(): string {
  const { privateKey } = generateKeyPairSync('ed25519');
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Returns the seed of 32 bytes in base64url, as the console's address of an owner has it. */
export function ownerKeyOf(identityPem: string): string {
  const { d = '' } = createPrivateKey(identityPem).export({ format: 'jwk' });
  return d;
}

/** IC spec, "Principals": the self-authenticating principal of the key. */
export function principalOf(identityPem: string): Principal {
  const key = createPublicKey(createPrivateKey(identityPem));
  return Principal.selfAuthenticating(new Uint8Array(key.export({ type: 'spki', format: 'der' })));
}

/** Returns the owner's oldest canister; creates one if the owner has none. */
async function ownCanister(service: LocalService, identityPem: string): Promise<string> {
  const { replica, onNote = () => undefined } = service;
  const [oldest, ...younger] = controlled(replica, identityPem);
  const others = await asyncFilter(younger, async (id) => (await roleOf(replica, id)) !== 'front');
  if (oldest === undefined) {
    const made = await replica.createCanister({ controllers: [principalOf(identityPem)] });
    return made.toText();
  }
  onNote(`The service continues with canister ${oldest} of the state folder.`);
  if (others.length > 0) {
    onNote(`${others.join(', ')}: also in the state folder, but not served at plain localhost.`);
  }
  return oldest;
}

async function asyncFilter<T>(items: readonly T[], keeps: (item: T) => Promise<boolean>) {
  const kept = await Promise.all(items.map(keeps));
  return items.filter((_, index) => kept[index]);
}

/** Returns `undefined` for a canister without code, or with code that has no roles. */
async function roleOf(replica: Replica, canisterId: string): Promise<string | undefined> {
  const Role = IDL.Variant({ volume: IDL.Reserved, front: IDL.Reserved });
  const Status = IDL.Record({ role: IDL.Opt(Role) });
  try {
    const reply = await replica.query(canisterId, 'getStatus');
    const [result] = IDL.decode([IDL.Variant({ ok: Status, err: IDL.Text })], reply);
    const [role] = (result as { ok?: { role: [object?] } }).ok?.role ?? [];
    return Object.keys(role ?? {})[0];
  } catch {
    return undefined;
  }
}

/**
 * Installs or upgrades the front and connects it with the volume. A canister without code, left by
 * an interrupted first start, becomes the front.
 */
async function bringFront(
  service: LocalService,
  volume: { readonly canisterId: string; readonly identityPem: string },
): Promise<LocalFront | undefined> {
  const { replica, hasFront = false } = service;
  const sender = principalOf(volume.identityPem);
  const others = controlled(replica, volume.identityPem).filter((id) => id !== volume.canisterId);
  const isCode = (id: string) => moduleHashOf(replica, id) !== undefined;
  const fronts = await asyncFilter(others, async (id) => {
    return isCode(id) ? (await roleOf(replica, id)) === 'front' : hasFront;
  });
  if (fronts[0] === undefined && !hasFront) return undefined;
  const canisterId =
    fronts[0] ?? (await replica.createCanister({ controllers: [sender] })).toText();
  await topUp(replica, canisterId);
  await bringCode(service, { canisterId, wasm: service.wasm, argument: frontArgument });
  const gateway = `http://${canisterId}.localhost:${replica.port}`;
  const front = { canisterId, gateway, sender };
  await joinVolume(replica, front, volume.canisterId);
  return { canisterId, gateway, volumes: await bringVolumes(service, front, volume.canisterId) };
}

interface OwnedFront {
  readonly canisterId: string;
  readonly gateway: string;
  readonly sender: Principal;
}

const FrontSetting = IDL.Opt(IDL.Record({ front: IDL.Principal, url: IDL.Opt(IDL.Text) }));

/** Adds the volume to the front's list, and sets the volume's front. */
async function joinVolume(replica: Replica, front: OwnedFront, volumeId: string): Promise<void> {
  const call = managing(replica, front.sender);
  const setting = [{ front: Principal.fromText(front.canisterId), url: [front.gateway] }];
  await call(front.canisterId, 'addVolume', IDL.Principal, Principal.fromText(volumeId));
  await call(volumeId, 'setFront', FrontSetting, setting);
}

/** Returns a function that calls a method of one argument. */
function managing(replica: Replica, sender: Principal) {
  return async (id: string, method: string, type: IDL.Type, value: unknown): Promise<void> => {
    const argument = new Uint8Array(IDL.encode([type], [value]));
    const reply = await replica.call(id, method, argument, { sender });
    unwrap(IDL.decode([IDL.Variant({ ok: IDL.Reserved, err: IDL.Text })], reply));
  };
}

/** Creates the demo bucket and its key in a volume that may have a front, which it joins later. */
async function createKeyAnew(replica: Replica, volumeId: string, identityPem: string) {
  await managing(replica, principalOf(identityPem))(volumeId, 'setFront', FrontSetting, []);
  return createDemoKey(replica, volumeId, identityPem);
}

/** Upgrades the other volumes of the front, and creates those that are missing. */
async function bringVolumes(
  service: LocalService,
  front: OwnedFront,
  first: string,
): Promise<string[]> {
  const { replica, wasm, volumeCount = 1 } = service;
  const others = (await volumesOf(replica, front.canisterId)).filter((id) => id !== first);
  while (1 + others.length < volumeCount) {
    const controllers = [front.sender];
    const made = await replica.createCanister({
      controllers,
      ...placeOf(replica, others.length + 1),
    });
    others.push(made.toText());
  }
  for (const canisterId of others) {
    await topUp(replica, canisterId);
    await bringCode(service, { canisterId, wasm });
    await joinVolume(replica, front, canisterId);
  }
  return [first, ...others];
}

/** Returns the subnet of the volume with this number, from 0: the next one for each volume. */
function placeOf({ subnets }: Replica, volume: number): { readonly subnet?: Principal } {
  const subnet = subnets[volume % subnets.length];
  return subnet ? { subnet } : {};
}

async function volumesOf(replica: Replica, frontId: string): Promise<string[]> {
  const Volume = IDL.Record({ canisterId: IDL.Principal });
  const reply = await replica.query(frontId, 'listVolumes');
  const listed = unwrap(IDL.decode([IDL.Variant({ ok: IDL.Vec(Volume), err: IDL.Text })], reply));
  return (listed as { canisterId: Principal }[]).map(({ canisterId }) => canisterId.toText());
}

/** `(opt record { role = opt variant { front } })` */
export const frontArgument = new Uint8Array(
  IDL.encode(
    [IDL.Opt(IDL.Record({ role: IDL.Opt(IDL.Variant({ front: IDL.Null })) }))],
    [[{ role: [{ front: null }] }]],
  ),
);

function moduleHashOf(replica: Replica, canisterId: string): Uint8Array | undefined {
  return replica.canisters().find(({ id }) => id.toText() === canisterId)?.moduleHash;
}

/** 10,000 T (trillion) cycles store a TiB for two years. */
const leastCycles = 10n ** 16n;

/** Tops up a canister with fewer cycles, because nobody else does so on a local replica. */
async function topUp(replica: Replica, canisterId: string): Promise<void> {
  if (replica.subnetType === 'cloud-engine') return;
  const canister = replica.canisters().find(({ id }) => id.toText() === canisterId);
  if (canister === undefined || canister.cycles >= leastCycles) return;
  const argument = IDL.Record({ canister_id: IDL.Principal, amount: IDL.Nat });
  const values = { canister_id: canister.id, amount: leastCycles };
  await replica.call('aaaaa-aa', 'provisional_top_up_canister', IDL.encode([argument], [values]));
}

/** Installs or upgrades the code, unless the canister already has it. */
async function bringCode(
  { replica, stateDir }: LocalService,
  target: {
    readonly canisterId: string;
    readonly wasm: Uint8Array;
    readonly argument?: Uint8Array;
  },
): Promise<void> {
  const { canisterId, wasm, argument } = target;
  const canister = replica.canisters().find(({ id }) => id.toText() === canisterId);
  if (canister === undefined) {
    throw new Error(
      `${join(stateDir, 'service.json')} names canister ${canisterId}, which is not in the state: ` +
        'delete that file to continue with the existing canister',
    );
  }
  if (canister.moduleHash === undefined) await replica.install(canisterId, wasm, argument);
  else if (Buffer.from(canister.moduleHash).toString('hex') !== sha256Hex(wasm)) {
    await replica.upgrade(canisterId, wasm);
  }
}

/** Creates the public demo bucket; returns a key for it with all permissions. */
export async function createDemoKey(
  replica: Replica,
  canisterId: string,
  identityPem: string,
): Promise<string> {
  const sender = principalOf(identityPem);
  const Bucket = IDL.Record({ id: IDL.Text });
  const Options = IDL.Record({ isPublic: IDL.Opt(IDL.Bool) });
  const argument = [demoBucket, [{ isPublic: [true] }]];
  const bucket = IDL.encode([IDL.Text, IDL.Opt(Options)], argument);
  const created = await replica.call(canisterId, 'createBucket', bucket, { sender });
  const [made] = IDL.decode([IDL.Variant({ ok: Bucket, err: IDL.Text })], created);
  // An interrupted start may have created the bucket.
  const isThere = (made as { err?: string }).err?.startsWith('BucketExists') === true;
  if (!isThere) unwrap([made]);
  const KeyRequest = IDL.Record({
    name: IDL.Text,
    buckets: IDL.Vec(IDL.Text),
    permissions: IDL.Vec(IDL.Text),
    expiresAt: IDL.Opt(IDL.Int),
  });
  const permissions = ['read', 'write', 'delete'];
  const request = { name: 'local', buckets: [demoBucket], permissions, expiresAt: [] };
  const wish = IDL.encode([KeyRequest], [request]);
  const reply = await replica.call(canisterId, 'createApiKey', wish, { sender });
  const Key = IDL.Record({ secret: IDL.Text });
  const key = unwrap(IDL.decode([IDL.Variant({ ok: Key, err: IDL.Text })], reply));
  return (key as { secret: string }).secret;
}

function unwrap(decoded: unknown): unknown {
  const [result] = decoded as [{ ok?: unknown; err?: string }];
  if (result.err !== undefined) {
    throw new Error(`Cannot set up the local service: ${result.err}`);
  }
  return result.ok;
}

function sha256Hex(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
