// The command's named canisters: installed at the first start, upgraded when the Wasm differs.
// `canisters.json` in the state folder maps names to ids.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Principal } from '@dfinity/principal';
import type { CanisterView } from '../core.ts';
import { writeFileDurably } from '../persistence/durable-file.ts';
import type { Replica } from '../replica.ts';
import { persistenceSection } from '../wasm/custom-sections.ts';
import type { CommandOptions } from './options.ts';

export interface NamedWasm {
  readonly name: string;
  readonly file: string;
}

/** Parses `name=file`, or a file name, which names the canister without its endings. */
export function namedWasm(word: string): NamedWasm {
  const [, name, file] = /^([\w-]+)=(.+)$/s.exec(word) ?? [];
  if (name !== undefined && file !== undefined) return { name, file };
  return { name: basename(word).replace(/\.wasm(?:\.gz)?$/, ''), file: word };
}

export async function bringUp(
  replica: Replica,
  { stateDir, controllers }: Pick<CommandOptions, 'stateDir' | 'controllers'>,
  { name, file }: NamedWasm,
): Promise<{ readonly id: string; readonly action: 'installed' | 'upgraded' | 'as it was' }> {
  const wasm = new Uint8Array(await readFile(file));
  const path = join(stateDir, 'canisters.json');
  const ids = await readIds(path);
  const hash = createHash('sha256').update(wasm).digest();
  const id = ids[name] ?? (await newCanister(replica, { ids, hash, controllers }));
  // Written before the installation, so that an interrupted start finds its canister again.
  const names = { ...ids, [name]: id };
  writeFileDurably(path, [Buffer.from(`${JSON.stringify(names, null, 2)}\n`)]);
  const canister = replica.canisters().find((one) => one.id.toText() === id);
  if (canister === undefined) {
    throw new Error(`${path} names canister ${id} as ${name}, but the state has no such canister`);
  }
  if (canister.moduleHash === undefined) {
    await replica.install(id, wasm);
    return { id, action: 'installed' };
  }
  if (hash.equals(canister.moduleHash)) return { id, action: 'as it was' };
  const keeps = canister.metadata.has(persistenceSection);
  await replica.upgrade(id, wasm, undefined, keeps ? { wasmMemoryPersistence: 'keep' } : {});
  return { id, action: 'upgraded' };
}

/** Throws an Error with a remedy if the file is incomplete. */
async function readIds(path: string): Promise<Record<string, string>> {
  if (!existsSync(path)) return {};
  try {
    const found: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (typeof found === 'object' && found !== null) return found as Record<string, string>;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new Error(
    `${path}, which names the canisters, is empty or truncated: restore it, or delete it to continue ` +
      'with the canisters that have the same code',
  );
}

/**
 * Returns the id of an unnamed canister with this code, else of an empty one with these
 * controllers, else of a new one.
 */
async function newCanister(
  replica: Replica,
  wish: {
    readonly ids: Readonly<Record<string, string>>;
    readonly hash: Buffer;
    readonly controllers: readonly string[];
  },
): Promise<string> {
  const { ids, hash, controllers } = wish;
  const named = new Set(Object.values(ids));
  const wished = controllers.length > 0 ? controllers : [Principal.anonymous().toText()];
  const isLeft = ({ id, moduleHash, controllers: found }: CanisterView) => {
    if (named.has(id.toText())) return false;
    if (moduleHash !== undefined) return hash.equals(moduleHash);
    return found.map((one) => one.toText()).join() === wished.join();
  };
  const left = replica.canisters().filter(isLeft);
  const found = left.find(({ moduleHash }) => moduleHash !== undefined) ?? left[0];
  if (found !== undefined) return found.id.toText();
  const made = await replica.createCanister(controllers.length > 0 ? { controllers } : {});
  return made.toText();
}
