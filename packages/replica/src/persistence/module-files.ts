// Wasm modules as files, each under the SHA-256 of its bytes: written once, never changed.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { StateDamage } from '../state-damage.ts';
import { writeFileDurably } from './durable-file.ts';

export function moduleFileName(module: Uint8Array): string {
  return `${createHash('sha256').update(module).digest('hex')}.wasm`;
}

export function putModule(
  place: { readonly directory: string; readonly onWrite: (bytes: number) => void },
  sha256Hex: string,
  module: Uint8Array,
): void {
  const path = modulePath(place.directory, sha256Hex);
  if (existsSync(path)) return;
  place.onWrite(module.length);
  writeFileDurably(path, [module]);
}

/** Returns `undefined` if the file does not exist. Throws StateDamage. */
export function getModule(directory: string, sha256Hex: string): Uint8Array | undefined {
  const path = modulePath(directory, sha256Hex);
  if (!existsSync(path)) return undefined;
  const module = new Uint8Array(readFileSync(path));
  if (path.endsWith(moduleFileName(module))) return module;
  throw new StateDamage(`The module ${path} is damaged`);
}

function modulePath(directory: string, sha256Hex: string): string {
  if (!/^[0-9a-f]{64}$/.test(sha256Hex)) {
    throw new Error(`Not a SHA-256 in hex: ${JSON.stringify(sha256Hex)}`);
  }
  return join(directory, 'modules', `${sha256Hex}.wasm`);
}
