// Finds canisters whose code has `http_request`: the oldest is that of plain `localhost`.

import { gunzipSync } from 'node:zlib';
import type { StateStore } from './core.ts';
import { cutSections, readExports } from './wasm/sections.ts';

const httpMethods: ReadonlySet<string> = new Set([
  'canister_query http_request',
  'canister_composite_query http_request',
]);

/**
 * Returns a function from a module's hash to whether the module serves HTTP; reads each module
 * once.
 */
export function createHttpLookup(store: StateStore): (moduleHash: Uint8Array) => boolean {
  const known = new Map<string, boolean>();
  return (moduleHash) => {
    const hash = Buffer.from(moduleHash).toString('hex');
    const answer = known.get(hash) ?? hasHttpMethod(store.getModule(hash));
    known.set(hash, answer);
    return answer;
  };
}

function hasHttpMethod(module: Uint8Array | undefined): boolean {
  if (module === undefined) return false;
  const isCompressed = module[0] === 0x1f && module[1] === 0x8b;
  const sections = cutSections(isCompressed ? new Uint8Array(gunzipSync(module)) : module);
  return readExports(sections).some(({ name }) => httpMethods.has(name));
}
