// Finds the local replica whose `.replica/service.json` is in the working folder or above it.
// Anybody may have written such a file, for example as part of a repository, so it is not trusted.
// Its addresses must be on this machine, the file must belong to the user, and only secrets from
// the file itself are sent to its address.

import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isLoopback } from '../../../client/src/connection/canister-address.ts';
import { UsageError } from '../output/usage-error.ts';

const fieldNames = ['url', 'gateway', 'canisterId', 'apiKey', 'identityPem'] as const;

/** The fields that efs reads of `service.json`, which `npm start` writes. */
export type LocalService = Readonly<Record<(typeof fieldNames)[number], string>> & {
  /** Id of the front, if the service has one. */
  readonly front?: string | undefined;
};

export interface FoundReplica {
  readonly service: LocalService;
  readonly folder: string;
}

export interface ReplicaSearch {
  readonly found: FoundReplica | undefined;
  /** Files that were found and not used, with the reason. */
  readonly notes: readonly string[];
}

const writableByOthers = 0o022;
const permissionBits = 0o777;

/** Searches from the working folder up to `home` or the root, or reads the named folder. */
export function findReplica(named: string | undefined, home: string): ReplicaSearch {
  if (named !== undefined) return { found: replicaIn(named), notes: [] };
  const notes: string[] = [];
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    try {
      const found = replicaIn(join(folder, '.replica'));
      if (found !== undefined) return { found, notes };
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      notes.push(error.message);
    }
    if (folder === resolve(home) || dirname(folder) === folder) return { found: undefined, notes };
  }
}

/** Throws UsageError for a file that must not be used. */
function replicaIn(folder: string): FoundReplica | undefined {
  const path = resolve(folder, 'service.json');
  const text = readOwnFile(path);
  return text === undefined ? undefined : { service: parse(path, text), folder: dirname(path) };
}

function readOwnFile(path: string): string | undefined {
  let file: number;
  try {
    // A pipe would block until somebody writes to it.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch {
    return undefined;
  }
  try {
    const { uid, mode } = fstatSync(file);
    const user = process.getuid?.();
    // Windows has neither numeric owners nor these permissions.
    if (user !== undefined && uid !== user) {
      throw refused(path, 'it belongs to another user', 'Pass --url to use the service it names.');
    }
    if (user !== undefined && (mode & writableByOthers) !== 0) {
      const permissions = (mode & permissionBits).toString(8);
      throw refused(path, `other users can change it (mode ${permissions})`, `chmod 600 ${path}`);
    }
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

function parse(path: string, text: string): LocalService {
  const fields = fieldsOf(text);
  const [url, gateway, canisterId, apiKey, identityPem] = fieldNames.map((name) => fields[name]);
  if (
    !isText(url) ||
    !isText(gateway) ||
    !isText(canisterId) ||
    !isText(apiKey) ||
    !isText(identityPem)
  ) {
    throw refused(
      path,
      `it is not a JSON object with the strings ${fieldNames.join(', ')}`,
      'Start the replica again: npm start writes the file.',
    );
  }
  const remote = [url, gateway].find((address) => !isLoopback(address));
  const front = frontIn(fields);
  if (remote === undefined) return { url, gateway, canisterId, apiKey, identityPem, front };
  throw refused(
    path,
    `its address ${remote} is not one of this machine (localhost, 127.0.0.1, [::1])`,
    'Pass --url and a key of your own to use that service.',
  );
}

function frontIn({ front }: Readonly<Record<string, unknown>>): string | undefined {
  const { canisterId } = Object(front) as { readonly canisterId?: unknown };
  return isText(canisterId) ? canisterId : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

function refused(path: string, reason: string, advice: string): UsageError {
  return new UsageError(`${path} is not used: ${reason}. ${advice}`);
}
