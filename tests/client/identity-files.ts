// Identities in the formats of the tools that create them.

import {
  createCipheriv,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  scryptSync,
} from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { argon2id } from '@noble/hashes/argon2';
import { shortItem } from '../../packages/client/src/node/der.ts';

export function newKey(kind: 'ed25519' | 'secp256k1' | 'prime256v1' | 'secp384r1'): KeyObject {
  if (kind === 'ed25519') return generateKeyPairSync('ed25519').privateKey;
  return generateKeyPairSync('ec', { namedCurve: kind }).privateKey;
}

export function pemOf(
  key: KeyObject,
  type: 'pkcs8' | 'sec1',
  encryption: { cipher?: string; passphrase?: string } = {},
): string {
  return key.export({ type, format: 'pem', ...encryption }) as string;
}

function wrapped(label: string, der: Uint8Array, lineEnd = '\n'): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join(lineEnd);
}

const field = (key: KeyObject, name: 'd' | 'x' | 'y') =>
  Buffer.from(key.export({ format: 'jwk' })[name] ?? '', 'base64url');

/** Writes SEC 1 as the elliptic-curve crate and dfx do: `to_sec1_pem(LineEnding::CRLF)`. */
export function asSec1WithoutCurve(key: KeyObject, publicKey?: Uint8Array): string {
  const point = publicKey ?? Buffer.concat([Uint8Array.of(4), field(key, 'x'), field(key, 'y')]);
  const version = shortItem(0x02, Uint8Array.of(1));
  const bits = shortItem(0xa1, shortItem(0x03, Uint8Array.of(0), point));
  const der = shortItem(0x30, version, shortItem(0x04, field(key, 'd')), bits);
  return wrapped('EC PRIVATE KEY', der, '\r\n');
}

/** Writes PKCS #8 of RFC 5958, with the public key, as ring and icp-cli do. */
export function asVersion2(key: KeyObject): string {
  const algorithm = shortItem(0x30, shortItem(0x06, Buffer.from('2b6570', 'hex')));
  const secret = shortItem(0x04, shortItem(0x04, field(key, 'd')));
  const publicKey = shortItem(0x81, Uint8Array.of(0), field(key, 'x'));
  const der = shortItem(0x30, shortItem(0x02, Uint8Array.of(1)), algorithm, secret, publicKey);
  return wrapped('PRIVATE KEY', der);
}

const oid = (hex: string) => shortItem(0x06, Buffer.from(hex, 'hex'));

function sequence(...parts: readonly Uint8Array[]): Uint8Array {
  const contents = Buffer.concat(parts);
  if (contents.length < 128) return shortItem(0x30, contents);
  return Buffer.concat([Uint8Array.of(0x30, 0x82), uint16(contents.length), contents]);
}

function uint16(value: number): Uint8Array {
  return Uint8Array.of(value >> 8, value & 0xff);
}

/** Encrypts as `scrypt_aes256cbc(Params::new(17, 8, 1, 32))` of the pkcs5 crate does. */
export function encryptedAsIcpCli(key: KeyObject, passphrase: string): string {
  const [salt, iv] = [randomBytes(16), randomBytes(16)];
  const cost = { N: 2 ** 17, r: 8, p: 1, maxmem: 2 ** 28 };
  const cipher = createCipheriv('aes-256-cbc', scryptSync(passphrase, salt, 32, cost), iv);
  const pkcs8 = key.export({ type: 'pkcs8', format: 'der' });
  const data = Buffer.concat([cipher.update(pkcs8), cipher.final()]);
  const integer = (...bytes: number[]) => shortItem(0x02, Uint8Array.from(bytes));
  const parameters = sequence(shortItem(0x04, salt), integer(2, 0, 0), integer(8), integer(1));
  const kdf = sequence(oid('2b06010401da47040b'), parameters);
  const scheme = sequence(oid('60864801650304012a'), shortItem(0x04, iv));
  const algorithm = sequence(oid('2a864886f70d01050d'), sequence(kdf, scheme));
  const head = Buffer.from([0x04, 0x81, data.length]);
  return wrapped('ENCRYPTED PRIVATE KEY', sequence(algorithm, head, data));
}

export interface DfxIdentity {
  readonly name: string;
  readonly pem: string;
  readonly passphrase?: string;
  /** Contents of `identity.json`, for a key that is not in a file. */
  readonly settings?: object;
}

/** Stores the identity in `<home>/.config/dfx/identity/<name>`, as dfx 0.2x does. */
export async function storeInDfx(home: string, identity: DfxIdentity): Promise<void> {
  const folder = join(home, '.config/dfx/identity', identity.name);
  await mkdir(folder, { recursive: true });
  const { passphrase, pem, settings: others } = identity;
  if (others !== undefined) await writeFile(join(folder, 'identity.json'), JSON.stringify(others));
  if (passphrase === undefined) {
    await writeFile(join(folder, 'identity.pem'), pem, { mode: 0o400 });
    return;
  }
  // dfx passes the 64 hexadecimal digits to the argon2 crate, which reads a salt as base64.
  const salt = randomBytes(32).toString('hex');
  const nonce = randomBytes(12);
  const cost = { m: 64_000, t: 3, p: 1, dkLen: 32 };
  const hash = argon2id(passphrase, Buffer.from(salt, 'base64'), cost);
  const cipher = createCipheriv('aes-256-gcm', hash, nonce);
  const bytes = Buffer.concat([cipher.update(pem), cipher.final(), cipher.getAuthTag()]);
  await writeFile(join(folder, 'identity.pem.encrypted'), bytes, { mode: 0o400 });
  const encryption = { pw_salt: salt, file_nonce: [...nonce] };
  const settings = { hsm: null, encryption, keyring_identity_suffix: null };
  await writeFile(join(folder, 'identity.json'), JSON.stringify(settings, null, 2));
}

/**
 * Stores the key, and a list of identities of version 1, in `<home>/.local/share/icp-cli/identity`.
 */
export async function storeInIcpCli(
  home: string,
  identity: { readonly name: string; readonly pem: string; readonly spec: object },
): Promise<void> {
  const folder = join(home, '.local/share/icp-cli/identity');
  await mkdir(join(folder, 'keys'), { recursive: true });
  const { name, pem, spec } = identity;
  const identities = { anonymous: { kind: 'anonymous' }, [name]: spec };
  await writeFile(join(folder, 'identity_list.json'), JSON.stringify({ v: 1, identities }));
  await writeFile(join(folder, 'keys', `${name}.pem`), pem);
}
