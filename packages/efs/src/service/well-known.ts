// `efs domain` and `efs well-known`: texts at /.well-known/, including the list of custom domains.

import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { WellKnown } from '../../../client/src/administration/buckets-and-keys.ts';
import type { WellKnownText } from '../../../client/src/types/buckets.ts';
import { gatewayDomains } from '../../../wire/src/gateways.ts';
import type { Run } from '../config/run.ts';
import {
  type Column,
  formatTable,
  printJson,
  printLine,
  printNote,
  printResult,
} from '../output/output.ts';
import { UsageError } from '../output/usage-error.ts';

const domainsName = 'ic-domains';

const columns: readonly Column<WellKnownText>[] = [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'TYPE', value: ({ contentType }) => contentType },
  { title: 'SIZE', value: ({ body }) => String(Buffer.byteLength(body)), isNumber: true },
];

export async function setWellKnown(
  run: Run,
  { name, file }: { readonly name: string; readonly file: string },
  { type: contentType }: { readonly type?: string },
): Promise<void> {
  const body = file === '-' ? await text(process.stdin) : await readFile(file, 'utf8');
  await (await run.manager()).wellKnown.set(name, body, { contentType });
  printResult({ name }, `/.well-known/${name}`);
}

export async function listWellKnown(run: Run, { json }: { readonly json?: boolean }) {
  const texts = await (await run.manager()).wellKnown.list();
  if (json) printJson(texts);
  else if (texts.length > 0) printLine(formatTable(texts, columns));
}

export async function removeWellKnown(run: Run, name: string): Promise<void> {
  await (await run.manager()).wellKnown.remove(name);
  printResult({ name }, `/.well-known/${name}`);
}

/** Returns one domain per line, as gateways read them. */
async function readDomains(wellKnown: WellKnown): Promise<string[]> {
  const found = (await wellKnown.list()).find(({ name }) => name === domainsName);
  const lines = found?.body.split('\n') ?? [];
  return lines.map((line) => line.trim()).filter((line) => line !== '');
}

async function saveDomains(wellKnown: WellKnown, domains: readonly string[]): Promise<void> {
  if (domains.length === 0) await wellKnown.remove(domainsName);
  else await wellKnown.set(domainsName, domains.map((domain) => `${domain}\n`).join(''));
}

export async function addDomain(run: Run, name: string): Promise<void> {
  const domain = parseDomain(name);
  const { wellKnown } = await run.manager();
  const domains = await readDomains(wellKnown);
  if (!domains.includes(domain)) await saveDomains(wellKnown, [...domains, domain]);
  printResult({ domain }, domain);
  if (!run.isQuiet) printNote(nextSteps(domain, run.canisterId ?? '<canister id>'));
}

export async function removeDomain(run: Run, name: string): Promise<void> {
  const domain = parseDomain(name);
  const { wellKnown } = await run.manager();
  const domains = await readDomains(wellKnown);
  if (!domains.includes(domain)) {
    throw new UsageError(
      `The domain ${domain} is not registered: efs domain ls shows the registered ones.`,
    );
  }
  await saveDomains(
    wellKnown,
    domains.filter((other) => other !== domain),
  );
  printResult({ domain }, domain);
}

export async function listDomains(run: Run, { json }: { readonly json?: boolean }) {
  const domains = await readDomains((await run.manager()).wellKnown);
  if (json) printJson(domains);
  else for (const domain of domains) printLine(domain);
}

const labelPattern = /^[a-z0-9-]{1,63}$/;

function parseDomain(name: string): string {
  const domain = name.toLowerCase();
  const labels = domain.split('.');
  const isDomain =
    domain.length <= 253 &&
    labels.length > 1 &&
    labels.every((label) => labelPattern.test(label) && !/^-|-$/.test(label));
  if (isDomain) return domain;
  throw new UsageError(
    `A domain must look like files.example.org, without https:// and path; got ${name}.`,
  );
}

/** The DNS records and steps that the network's gateways require for a domain. */
function nextSteps(domain: string, canisterId: string): string {
  const address = `https://${gatewayDomains[0]}/custom-domains/v1/${domain}`;
  return [
    'The service now lists the domain. Set these three DNS records:',
    `  ${domain}  CNAME (at the top of a zone: ALIAS)  ${domain}.icp1.io`,
    `  _canister-id.${domain}  TXT  "${canisterId}"`,
    `  _acme-challenge.${domain}  CNAME  _acme-challenge.${domain}.icp2.io`,
    'then have the gateways check and register it:',
    `  curl -sL ${address}/validate`,
    `  curl -sL -X POST ${address}`,
  ].join('\n');
}
