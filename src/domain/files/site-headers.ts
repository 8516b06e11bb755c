// The header fields of a site's file `_headers`, in Netlify's syntax: a path of the site on a line
// of its own, then indented lines "Name: value". A path matches a file if it is one of the file's
// addresses. All rules that match apply; of one name, the last rule's value.

import { decodeUtf8 } from '../../lib/text.ts';
import { storedHeaderLengthMax } from '../../limits.ts';
import type { Bucket } from '../buckets/buckets.ts';
import { quote } from '../shared/names.ts';
import { Refusal, valueOrRefusal } from '../shared/refusal.ts';
import { addressesOf } from './site-paths.ts';
import { checkRules, readFrom } from './site-rules.ts';

export const headersPath = '_headers';
export const headersBytesMax = 32_768;
const linesMax = 1_000;
const headerRulesMax = 100;
/** The fields of all rules; the inspection of an upload has 200 M instructions. */
const allFieldsMax = 300;
const ruleFieldsMax = 20;
/** Fields of one file, and bytes of their names and values; 32 fields fit into its leaves. */
const fileFieldsMax = 16;
const fileFieldBytesMax = 4_096;
const nameLengthMax = 64;

export type SiteField = readonly [name: string, value: string];

export interface HeaderRule {
  /** Decoded, without a final slash: `/about`, `/assets/*`; '/' is the whole site's index.html. */
  readonly from: string;
  readonly fields: readonly SiteField[];
}

const acceptedNames: readonly string[] = [
  'Cache-Control',
  'Content-Security-Policy',
  'Content-Security-Policy-Report-Only',
  'Permissions-Policy',
  'Referrer-Policy',
  'Cross-Origin-Opener-Policy',
  'Cross-Origin-Embedder-Policy',
  'Cross-Origin-Resource-Policy',
  'Link',
  'Content-Language',
  'Content-Disposition',
];

const namesByLower = new Map(acceptedNames.map((name) => [name.toLowerCase(), name]));

/** Fields that every file has, or its gateway adds: accepted with this value, without an effect. */
const presentFields: ReadonlyMap<string, string> = new Map([
  ['access-control-allow-origin', '*'],
  ['x-content-type-options', 'nosniff'],
]);

/** Gateways and proxies between the canister and a browser act on these. */
const reservedNames = /^x-(?:ic|accel|sendfile|forwarded|real)(?:-|$)/i;

/** Refuses an upload of a site's `_redirects` or `_headers` with a fault, and names its line. */
export function checkSiteFile(
  bucket: Pick<Bucket, 'isSite'>,
  file: { readonly path: string; readonly size: number },
  read: () => Uint8Array,
): void {
  checkRules(bucket, file, read);
  if (!bucket.isSite || file.path !== headersPath) return;
  const { size } = file;
  const found =
    size > headersBytesMax
      ? tooLong(`${size} bytes`, `${headersBytesMax} bytes`)
      : readHeaders(read()).fault;
  if (found !== undefined) refuse(found);
}

function refuse(words: string): never {
  throw new Refusal('InvalidArgument', words);
}

function tooLong(found: string, accepted: string): string {
  return `The file ${headersPath} has ${found}; at most ${accepted} are accepted: shorten it.`;
}

interface ReadHeaders {
  /** The rules without faults. */
  readonly rules: readonly HeaderRule[];
  /** The fault of the first line that has one. */
  readonly fault?: string;
}

interface OpenRule {
  readonly from: string;
  readonly line: number;
  readonly fields: Map<string, SiteField>;
}

/** Reads the file and leaves out lines with faults. */
export function readHeaders(bytes: Uint8Array): ReadHeaders {
  const text = decodeUtf8(bytes);
  if (text === undefined) return { rules: [], fault: `The file ${headersPath} is not UTF-8.` };
  const lines = text.split('\n', linesMax + 1);
  const faults = lines.length > linesMax ? [tooLong('more lines', `${linesMax} lines`)] : [];
  const at = (line: number, words: string) =>
    `The file ${headersPath} has a fault in line ${line}: ${words}`;
  const readField = fieldReader(text);
  const open: OpenRule[] = [];
  let current: OpenRule | undefined;
  for (const [index, line] of lines.slice(0, linesMax).entries()) {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    const isField = line.startsWith(' ') || line.startsWith('\t');
    const read = valueOrRefusal(() => {
      if (isField) return readField(current, trimmed);
      current = undefined;
      current = { from: readPattern(trimmed), line: index + 1, fields: new Map() };
      open.push(current);
    });
    if (read instanceof Refusal) faults.push(at(index + 1, read.message));
  }
  if (open.length > headerRulesMax) {
    faults.unshift(tooLong(`${open.length} rules`, `${headerRulesMax}`));
  }
  const rules = open.slice(0, headerRulesMax).map(({ from, fields }) => {
    return { from, fields: [...fields.values()] };
  });
  const heavy = faults.length === 0 ? heavyRule(rules) : undefined;
  if (heavy !== undefined) faults.push(at(open[heavy.index]?.line ?? 0, heavy.words));
  const [fault] = faults;
  return fault === undefined ? { rules } : { rules, fault };
}

function readPattern(text: string): string {
  const from = readFrom(text);
  if (!from.includes('/:')) return from;
  return refuse(`${quote(text)} has a placeholder, which is not supported: end it with "/*".`);
}

/**
 * Returns a function that adds a field to its rule and joins values of one name. Looks once at the
 * whole text, and once at each name: a pattern tried on each line takes half of the inspection.
 */
function fieldReader(text: string): (rule: OpenRule | undefined, line: string) => void {
  const isPlain = !/[^\n\r\t -~]/.test(text);
  const names = new Map<string, string>();
  let count = 0;
  return (rule, line) => {
    if (rule === undefined) {
      refuse('the field belongs to no path: begin with a line such as "/*", not indented.');
    }
    count += 1;
    if (count > allFieldsMax) refuse(`the file has more than ${allFieldsMax} fields.`);
    const colon = line.indexOf(':');
    if (colon < 0) refuse(`${quote(line)} is not "Name: value".`);
    const value = line.slice(colon + 1).trim();
    const sent = line.slice(0, colon).trim();
    const known = names.get(sent);
    const name = known ?? acceptedName(sent, value);
    if (name === undefined) return;
    if (known === undefined) names.set(sent, name);
    const key = name.toLowerCase();
    const former = rule.fields.get(key)?.[1];
    const joined = former === undefined ? value : `${former}, ${value}`;
    const isOneLine = !joined.includes('\t') && !joined.includes('\r');
    const isVisible = (isPlain && isOneLine) || /^[ -~]*$/.test(joined);
    if (value === '' || joined.length > storedHeaderLengthMax || !isVisible) {
      refuse(
        `the value of ${name} must have 1 to ${storedHeaderLengthMax} visible ASCII characters.`,
      );
    }
    if (former === undefined && rule.fields.size === ruleFieldsMax) {
      refuse(`the rule has more than ${ruleFieldsMax} fields.`);
    }
    rule.fields.set(key, [name, joined]);
  };
}

/** Returns the name as it is served; `undefined` for a field that is sent anyway. */
function acceptedName(name: string, value: string): string | undefined {
  const lower = name.toLowerCase();
  const fixed = presentFields.get(lower);
  if (fixed === value) return undefined;
  if (fixed !== undefined) refuse(`${quote(name)} can only have the value ${quote(fixed)}.`);
  const known = namesByLower.get(lower);
  if (known !== undefined) return known;
  const isOwn = /^x-[a-z0-9-]+$/.test(lower) && !reservedNames.test(lower);
  if (isOwn && name.length <= nameLengthMax) return name;
  return refuse(
    `the field ${quote(name)} is not accepted. Accepted are ${acceptedNames.join(', ')}, and names ` +
      'that begin with "X-", except X-IC-, X-Accel-, X-Sendfile, X-Forwarded- and X-Real-. Set the ' +
      'type of a file itself for Content-Type.',
  );
}

/** Returns the first rule that, with the wildcards above it, gives a file too many fields. */
function heavyRule(
  rules: readonly HeaderRule[],
): { readonly index: number; readonly words: string } | undefined {
  const byFrom = indexesByFrom(rules);
  for (const [index, { from }] of rules.entries()) {
    const matching = patternsAt(from.endsWith('/*') ? from.slice(0, -2) : from)
      .concat(from)
      .flatMap((each) => byFrom.get(each) ?? []);
    const sum = matching.flatMap((each) => rules[each]?.fields ?? []);
    if (sum.length <= fileFieldsMax && bytesOf(sum) <= fileFieldBytesMax) continue;
    const fields = mergedFields(rules, matching);
    const bytes = bytesOf(fields);
    if (fields.length <= fileFieldsMax && bytes <= fileFieldBytesMax) continue;
    const words =
      `with the other rules that apply there, ${quote(from)} gives a file ${fields.length} fields ` +
      `of ${bytes} bytes; at most ${fileFieldsMax} fields of ${fileFieldBytesMax} bytes are accepted.`;
    return { index, words };
  }
  return undefined;
}

function bytesOf(fields: readonly SiteField[]): number {
  return fields.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
}

/** Returns the fields of the file with that path, as many as a file may have. */
export function fieldsOf(rules: readonly HeaderRule[], path: string): SiteField[] {
  const byFrom = indexesByFrom(rules);
  const matching = [`/${path}`, ...addressesOf(path)].flatMap((address) => {
    const plain = address.endsWith('/') ? address.slice(0, -1) : address;
    const patterns = patternsAt(plain).concat(plain === '' ? '/' : plain);
    return patterns.flatMap((from) => byFrom.get(from) ?? []);
  });
  const fields = mergedFields(rules, matching).slice(0, fileFieldsMax);
  while (bytesOf(fields) > fileFieldBytesMax) fields.pop();
  return fields;
}

function indexesByFrom(rules: readonly HeaderRule[]): Map<string, number[]> {
  const byFrom = new Map<string, number[]>();
  for (const [index, { from }] of rules.entries()) {
    const known = byFrom.get(from);
    if (known === undefined) byFrom.set(from, [index]);
    else known.push(index);
  }
  return byFrom;
}

/** Returns the wildcards that match the address, which has no final slash. */
function patternsAt(address: string): string[] {
  const patterns = ['/*'];
  for (let end = address.indexOf('/', 1); end > 0; end = address.indexOf('/', end + 1)) {
    patterns.push(`${address.slice(0, end)}/*`);
  }
  if (address.length > 1) patterns.push(`${address}/*`);
  return patterns;
}

/** Returns the fields of these rules; of one name, that of the last rule. */
function mergedFields(rules: readonly HeaderRule[], matching: readonly number[]): SiteField[] {
  if (matching.length === 0) return [];
  const merged = new Map<string, SiteField>();
  for (const index of [...new Set(matching)].sort((left, right) => left - right)) {
    for (const field of rules[index]?.fields ?? []) merged.set(field[0].toLowerCase(), field);
  }
  return [...merged.values()];
}
