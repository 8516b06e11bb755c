// Access keys of the S3 server: pairs of an id and a secret, in a file that only its user can read.
// Each represents a profile of the command or an API key.

import { randomBytes, randomInt } from 'node:crypto';
import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { replaceFile } from '../../client/src/node/replace-file.ts';
import type { Access, AccessKey, Credential, Credentials } from './signature/verify.ts';

const version = 1;
const othersBits = 0o077;
const keysMax = 1_000;
const idCharacters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const idPrefix = 'EFS';
const idLength = 20;
/** Forty characters of base64. */
const secretBytes = 30;

/** A fault in the file of access keys, described for the operator who starts the server. */
export class CredentialsError extends Error {
  override readonly name = 'CredentialsError';
}

interface Stored {
  readonly version: typeof version;
  readonly accessKeys: readonly AccessKey[];
}

/** The access keys in a file; changes of the file take effect with the next request. */
export class CredentialsFile implements Credentials {
  readonly #path: string;
  #known: { readonly stamp: string; readonly keys: ReadonlyMap<string, AccessKey> } | undefined;

  /** The file may be missing. */
  constructor(path: string) {
    this.#path = path;
  }

  async find(accessKeyId: string): Promise<AccessKey | undefined> {
    return (await this.#keys()).get(accessKeyId);
  }

  /** Returns the keys without their secrets, in order of creation. */
  async list(): Promise<Credential[]> {
    const keys = await this.#keys();
    return [...keys.values()].map(({ accessKeyId, access }) => ({ accessKeyId, access }));
  }

  /** Only this result and the file contain the secret. */
  async create(access: Access): Promise<AccessKey> {
    const keys = await this.#keys();
    if (keys.size >= keysMax) {
      throw new CredentialsError(`${this.#path} has ${keysMax} access keys: remove some first.`);
    }
    const made = { accessKeyId: newId(), secretAccessKey: newSecret(), access };
    await this.#write([...keys.values(), made]);
    return made;
  }

  /** Returns false if no pair has this id. */
  async remove(accessKeyId: string): Promise<boolean> {
    const keys = await this.#keys();
    if (!keys.has(accessKeyId)) return false;
    await this.#write([...keys.values()].filter((key) => key.accessKeyId !== accessKeyId));
    return true;
  }

  async #keys(): Promise<ReadonlyMap<string, AccessKey>> {
    // Each request does this: in another thread it would take five times as long.
    const stats = statSync(this.#path, { throwIfNoEntry: false });
    if (stats === undefined) return new Map();
    if (process.platform !== 'win32' && (stats.mode & othersBits) !== 0) {
      throw new CredentialsError(
        `Other users of this machine can read ${this.#path}: run chmod 600 ${this.#path}, and replace ` +
          'the access keys that they may have read.',
      );
    }
    const stamp = [stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs].join();
    if (this.#known?.stamp !== stamp) {
      const keys = this.#parse(await readFile(this.#path, 'utf8'));
      this.#known = { stamp, keys: new Map(keys.map((key) => [key.accessKeyId, key])) };
    }
    return this.#known.keys;
  }

  #parse(text: string): readonly AccessKey[] {
    const damaged = () =>
      new CredentialsError(`${this.#path} is damaged: repair it, or delete it to start anew.`);
    let stored: Partial<Stored> | null;
    try {
      stored = JSON.parse(text);
    } catch {
      throw damaged();
    }
    if (typeof stored?.version !== 'number') throw damaged();
    if (stored.version !== version) {
      throw new CredentialsError(`${this.#path} was written by a later version: update efs.`);
    }
    if (!Array.isArray(stored.accessKeys) || !stored.accessKeys.every(isAccessKey)) throw damaged();
    return stored.accessKeys;
  }

  #write(accessKeys: readonly AccessKey[]): Promise<void> {
    const stored: Stored = { version, accessKeys };
    return replaceFile(this.#path, `${JSON.stringify(stored, null, 2)}\n`);
  }
}

function isAccessKey(value: unknown): value is AccessKey {
  const { accessKeyId, secretAccessKey, access } = (value ?? {}) as Partial<AccessKey>;
  return isText(accessKeyId) && isText(secretAccessKey) && isAccess(access);
}

function isAccess(value: unknown): value is Access {
  const { profile, apiKey, url } = (value ?? {}) as Record<string, unknown>;
  return isText(profile) ? apiKey === undefined : isText(apiKey) && isText(url);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function newId(): string {
  const random = Array.from({ length: idLength - idPrefix.length }, () => {
    return idCharacters[randomInt(idCharacters.length)];
  });
  return idPrefix + random.join('');
}

/** Returns a secret of letters, digits, plus and slash, like those of AWS. */
function newSecret(): string {
  return randomBytes(secretBytes).toString('base64');
}
