// The service on a local replica: installed or upgraded, with an owner, a bucket to try and an API
// key. Uses the replica's in-process API and the canister's Candid interface; knows nothing of
// src/.

import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import type { Replica } from '../packages/replica/src/replica.ts';

/** What `.replica/service.json` tells clients; it holds secrets. */
export interface ServiceDescription {
  readonly gateway: string;
  readonly url: string;
  readonly canisterId: string;
  readonly bucket: string;
  readonly apiKey: string;
  /** PKCS #8 of the owner's Ed25519 key. */
  readonly identityPem: string;
}

const demoBucket = 'demo';
const secretFileMode = 0o600;

export interface LocalService {
  readonly replica: Replica;
  readonly stateDir: string;
  readonly wasm: Uint8Array;
}

/**
 * Brings the canister of the state folder to this Wasm; makes canister, bucket and key the first
 * time.
 */
export async function deployLocally(service: LocalService): Promise<ServiceDescription> {
  const { replica, stateDir, wasm } = service;
  const path = join(stateDir, 'service.json');
  const identityPem = await ownerIdentity(stateDir);
  const former = existsSync(path)
    ? (JSON.parse(await readFile(path, 'utf8')) as ServiceDescription)
    : undefined;
  const canisterId = former?.canisterId ?? (await installFirst(service, identityPem));
  if (former !== undefined && installedHash(replica, canisterId) !== sha256Hex(wasm)) {
    await replica.upgrade(canisterId, wasm);
  }
  replica.serveAtPlainAddress(canisterId);
  const apiKey = former?.apiKey ?? (await createDemoKey(replica, canisterId, identityPem));
  const description: ServiceDescription = {
    gateway: `http://${canisterId}.localhost:${replica.port}`,
    url: `http://localhost:${replica.port}`,
    canisterId,
    bucket: demoBucket,
    apiKey,
    identityPem,
  };
  await writeFile(path, `${JSON.stringify(description, null, 2)}\n`, { mode: secretFileMode });
  return description;
}

async function ownerIdentity(stateDir: string): Promise<string> {
  const path = join(stateDir, 'identity.pem');
  if (!existsSync(path)) {
    await writeFile(path, newIdentity(), { mode: secretFileMode });
  }
  return readFile(path, 'utf8');
}

/** PEM (PKCS #8) of a new Ed25519 key. */
export function newIdentity(): string {
  const { privateKey } = generateKeyPairSync('ed25519');
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** IC spec, "Principals": the self-authenticating principal of the key. */
export function principalOf(identityPem: string): Principal {
  const key = createPublicKey(createPrivateKey(identityPem));
  return Principal.selfAuthenticating(new Uint8Array(key.export({ type: 'spki', format: 'der' })));
}

async function installFirst(service: LocalService, identityPem: string): Promise<string> {
  const { replica, wasm } = service;
  const canisterId = await replica.createCanister({ controllers: [principalOf(identityPem)] });
  await replica.install(canisterId, wasm);
  return canisterId.toString();
}

/** The bucket to try, which is public, and a key for it with all permissions. */
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
  unwrap(IDL.decode([IDL.Variant({ ok: Bucket, err: IDL.Text })], created));
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

function installedHash(replica: Replica, canisterId: string): string {
  const canister = replica.canisters().find(({ id }) => id.toText() === canisterId);
  return Buffer.from(canister?.moduleHash ?? []).toString('hex');
}

function sha256Hex(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
