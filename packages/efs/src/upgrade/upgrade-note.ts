// The note of a running upgrade, so that `efs service rollback` can end one that was killed: a file
// for each service in the user's state folder. It contains no secret.

import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../../client/src/node/replace-file.ts';
import { stateFolder } from '../transfers/transfer-state.ts';

export interface UpgradeNote {
  /** The canister whose upgrade has begun and has not ended. */
  readonly canisterId: string;
  /** Its snapshot from before the upgrade, once there is one. */
  readonly snapshot?: string | undefined;
}

/** `service`: the id of the front, or of the only canister. */
function noteFile(service: string): string {
  return join(stateFolder(), `upgrade-${service}.json`);
}

export function saveNote(service: string, note: UpgradeNote): Promise<void> {
  return replaceFile(noteFile(service), `${JSON.stringify(note)}\n`);
}

export async function readNote(service: string): Promise<UpgradeNote | undefined> {
  try {
    return JSON.parse(await readFile(noteFile(service), 'utf8')) as UpgradeNote;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export function removeNote(service: string): Promise<void> {
  return rm(noteFile(service), { force: true });
}
