// Generates candid/api-doc.md, the answer of getApiDoc: the part of the interface that types do not
// say, for programs and agents that know only the canister. Its text is in api-doc.md of this
// folder, where {{name}} stands for a limit.

import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gatewayDomains } from '../../packages/wire/src/gateways.ts';
import * as wire from '../../packages/wire/src/limits.ts';
import * as limits from '../../src/limits.ts';

const template = join(dirname(fileURLToPath(import.meta.url)), 'api-doc.md');
const { hourNs, uploadIdleNs, uploadLifetimeNs } = limits;
const values: Readonly<Record<string, unknown>> = {
  ...wire,
  ...limits,
  address: `https://<canister id>.${gatewayDomains[0]}`,
  uploadIdleHours: uploadIdleNs / hourNs,
  uploadLifeDays: uploadLifetimeNs / (24n * hourNs),
};

/** Returns the text in Markdown. */
export async function apiDoc(): Promise<string> {
  const text = await readFile(template, 'utf8');
  return text.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => shown(name, values[name]));
}

/** Shows numbers as 1,900,000. */
function shown(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number' && typeof value !== 'bigint') {
    throw new Error(`api-doc.md: {{${name}}} is not a limit of packages/wire or src/limits.ts`);
  }
  return value.toLocaleString('en-US');
}
