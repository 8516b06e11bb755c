// Canisters that the command keeps by name: installed the first time, upgraded when the Wasm is
// another one. Which is which stands in `canisters.json` of the state folder.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Replica } from '../replica.ts';
import type { CommandOptions } from './options.ts';

export interface NamedWasm {
  readonly name: string;
  readonly file: string;
}

/** `name=file`, or a file whose name without its endings is the canister's. */
export function namedWasm(word: string): NamedWasm {
  const [, name, file] = /^([\w-]+)=(.+)$/s.exec(word) ?? [];
  if (name !== undefined && file !== undefined) return { name, file };
  return { name: basename(word).replace(/\.wasm(?:\.gz)?$/, ''), file: word };
}

/** Its id, and what was done. */
export async function bringUp(
  replica: Replica,
  { stateDir, controllers }: Pick<CommandOptions, 'stateDir' | 'controllers'>,
  { name, file }: NamedWasm,
): Promise<{ readonly id: string; readonly action: 'installed' | 'upgraded' | 'as it was' }> {
  const wasm = new Uint8Array(await readFile(file));
  const path = join(stateDir, 'canisters.json');
  const ids: Record<string, string> = existsSync(path)
    ? JSON.parse(await readFile(path, 'utf8'))
    : {};
  const known = ids[name];
  if (known === undefined) {
    const created = await replica.createCanister(controllers.length > 0 ? { controllers } : {});
    await replica.install(created, wasm);
    const id = created.toText();
    await writeFile(path, `${JSON.stringify({ ...ids, [name]: id }, null, 2)}\n`);
    return { id, action: 'installed' };
  }
  const installed = replica.canisters().find((canister) => canister.id.toText() === known);
  const hash = createHash('sha256').update(wasm).digest();
  if (hash.equals(installed?.moduleHash ?? new Uint8Array(0))) {
    return { id: known, action: 'as it was' };
  }
  await replica.upgrade(known, wasm);
  return { id: known, action: 'upgraded' };
}
