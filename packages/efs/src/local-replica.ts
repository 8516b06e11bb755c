// The local replica whose `.replica/service.json` is in the working folder or above it. What lies
// in a folder that somebody else has made gets no key of ours: it counts only on this machine, or
// when its folder was named.

import { readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isLoopback } from '../../client/src/canister-address.ts';

/** `service.json`, as `npm start` writes it. */
export interface LocalService {
  readonly url: string;
  readonly gateway: string;
  readonly canisterId: string;
  readonly apiKey: string;
  readonly identityPem: string;
}

export interface FoundReplica {
  readonly service: LocalService;
  readonly folder: string;
}

/** `named`: its folder, in place of a search that ends at `home`, or at the root. */
export function findReplica(named: string | undefined, home: string): FoundReplica | undefined {
  if (named !== undefined) return replicaIn(named);
  for (let folder = process.cwd(), isFirst = true; ; isFirst = false) {
    const found = replicaIn(join(folder, '.replica'));
    if (found !== undefined && isOfThisMachine(found) && (isFirst || isOurs(found))) return found;
    const parent = dirname(folder);
    if (folder === resolve(home) || parent === folder) return undefined;
    folder = parent;
  }
}

function replicaIn(folder: string): FoundReplica | undefined {
  try {
    const service = JSON.parse(readFileSync(join(folder, 'service.json'), 'utf8'));
    return { service, folder: resolve(folder) };
  } catch {
    return undefined;
  }
}

function isOfThisMachine({ service: { url, gateway } }: FoundReplica): boolean {
  return isLoopback(url) && isLoopback(gateway);
}

/** Above the working folder others may have put one, as in /tmp. */
function isOurs({ folder }: FoundReplica): boolean {
  const user = process.getuid?.();
  return user === undefined || statSync(join(folder, 'service.json')).uid === user;
}
