// `efs serve s3 credentials`: access keys, each for a profile or for an API key.

import { join } from 'node:path';
import type { Command } from 'commander';
import { CredentialsFile } from '../../../s3/src/credentials.ts';
import type { Access, Credential } from '../../../s3/src/index.ts';
import type { Configuration } from '../config/config.ts';
import { configurationOf } from '../config/flags.ts';
import { configFolder } from '../config/profiles.ts';
import { isJson } from '../output/json-output.ts';
import {
  type Column,
  formatTable,
  printJson,
  printLine,
  printNote,
  printResult,
} from '../output/output.ts';
import { UsageError } from '../output/usage-error.ts';

export function accessKeys(): CredentialsFile {
  return new CredentialsFile(join(configFolder(process.env), 's3-credentials.json'));
}

export async function createAccessKey(command: Command): Promise<void> {
  const access = accessOf(configurationOf(command));
  const { accessKeyId, secretAccessKey } = await accessKeys().create(access);
  if (isJson()) {
    printJson({ accessKeyId, secretAccessKey, for: textOf(access) });
    return;
  }
  printLine(`AWS_ACCESS_KEY_ID=${accessKeyId}`);
  printLine(`AWS_SECRET_ACCESS_KEY=${secretAccessKey}`);
  printNote(`The access key is for ${textOf(access)}. The secret is not shown again.`);
}

/** Returns the name of a profile, so that its changes apply, or else an API key and its address. */
function accessOf({ profile, apiKey, url }: Configuration): Access {
  if (profile !== undefined) return { profile };
  if (apiKey !== undefined && url !== undefined) return { apiKey, url };
  throw new UsageError(
    'An access key needs a profile or an API key: run efs profile add, or give --url ' +
      'and --api-key.',
  );
}

function textOf(access: Access): string {
  return 'profile' in access ? `profile ${access.profile}` : `an API key of ${access.url}`;
}

const columns: readonly Column<Credential>[] = [
  { title: 'ID', value: ({ accessKeyId }) => accessKeyId },
  { title: 'FOR', value: ({ access }) => textOf(access) },
];

export async function listAccessKeys(): Promise<void> {
  const keys = await accessKeys().list();
  if (isJson()) {
    printJson(keys.map(({ accessKeyId, access }) => ({ accessKeyId, for: textOf(access) })));
  } else if (keys.length > 0) {
    printLine(formatTable(keys, columns));
  }
}

export async function removeAccessKey(id: string): Promise<void> {
  if (!(await accessKeys().remove(id)))
    throw new UsageError(
      `Access key ${id} does not exist: efs serve s3 credentials ls shows the ids.`,
    );
  printResult({ removed: id }, `removed ${id}`);
}
