// The rules of a site's file `_redirects`, in Netlify's syntax: one rule on a line, "from to
// status". The first rule that matches a path without a file applies.
//
// A rule without placeholders or `:splat` has the same answer for everybody and is certified ahead:
// at its path, or at the wildcard of its prefix. The label tree prefers the path to wildcards, and
// longer wildcards to shorter ones. These are also the earlier rules, because a rule whose paths
// all match an earlier rule is left out. Below a prefix with a rule whose target depends on the
// path, no later rule is certified, and updates answer.

import { decodeUtf8, encodeUtf8 } from '../../lib/text.ts';
import type { Bucket } from '../buckets/buckets.ts';
import { parseFilePath, quote } from '../shared/names.ts';
import { Refusal, valueOrRefusal } from '../shared/refusal.ts';

export const rulesPath = '_redirects';
export const rulesBytesMax = 32_768;
/** Rules of a site; each has one place. */
export const rulePlacesMax = 100;
const linesMax = 1_000;
const fromLengthMax = 512;
const targetLengthMax = 1_024;
const segmentsMax = 16;
const placeholdersMax = 4;

export interface SiteRule {
  /** Decoded, without a final slash: `/old`, `/old/*`, `/news/:year`; '/' is the whole site. */
  readonly from: string;
  readonly status: number;
  /** A URL, a path of the site as in URLs, or for 200, 404 and 410 the path of a file. */
  readonly to: string;
}

const redirectStatuses: readonly number[] = [301, 302, 307, 308];
const fileStatuses: readonly number[] = [200, 404, 410];

export function isRedirect({ status }: Pick<SiteRule, 'status'>): boolean {
  return redirectStatuses.includes(status);
}

export interface ReadRules {
  /** The rules without faults that some path can reach. */
  readonly rules: readonly SiteRule[];
  /** The fault of the first line that has one. */
  readonly fault?: string;
}

/** Refuses an upload of a site's `_redirects` with a fault, and names its line. */
export function checkRules(
  { isSite }: Pick<Bucket, 'isSite'>,
  { path, size }: { readonly path: string; readonly size: number },
  read: () => Uint8Array,
): void {
  if (!isSite || path !== rulesPath) return;
  if (size > rulesBytesMax) fault(tooLong(`${size} bytes`, `${rulesBytesMax} bytes`));
  const found = readRules(read()).fault;
  if (found !== undefined) fault(found);
}

function tooLong(found: string, accepted: string): string {
  return `The file ${rulesPath} has ${found}; at most ${accepted} are accepted: shorten it.`;
}

/** Reads the file and leaves out lines with faults. */
export function readRules(bytes: Uint8Array): ReadRules {
  const text = decodeUtf8(bytes);
  if (text === undefined) return { rules: [], fault: `The file ${rulesPath} is not UTF-8.` };
  const lines = text.split('\n', linesMax + 1);
  const faults = lines.length > linesMax ? [tooLong('more lines', `${linesMax} lines`)] : [];
  const rules: SiteRule[] = [];
  for (const [index, line] of lines.slice(0, linesMax).entries()) {
    const rule = valueOrRefusal(() => readLine(line));
    if (rule instanceof Refusal) {
      faults.push(`The file ${rulesPath} has a fault in line ${index + 1}: ${rule.message}`);
    } else if (rule !== undefined) rules.push(rule);
  }
  if (rules.length > rulePlacesMax)
    faults.unshift(tooLong(`${rules.length} rules`, `${rulePlacesMax}`));
  const [fault] = faults;
  const reachable = withoutCovered(rules.slice(0, rulePlacesMax));
  return fault === undefined ? { rules: reachable } : { rules: reachable, fault };
}

/** Leaves out each rule whose paths all match one earlier rule without placeholders. */
function withoutCovered(rules: readonly SiteRule[]): SiteRule[] {
  const exact = new Set<string>();
  const prefixes = new Set<string>();
  return rules.filter(({ from }) => {
    const prefix = wildcardPrefix(from);
    if (prefix === undefined && exact.has(from)) return false;
    const isCovered = prefixes.size > 0 && prefixesOf(prefix ?? from).some(prefixes.has, prefixes);
    if (isCovered) return false;
    if (!from.includes('/:')) (prefix === undefined ? exact : prefixes).add(prefix ?? from);
    return true;
  });
}

/** Returns the prefixes of wildcards that cover the path, the shortest first. */
function prefixesOf(path: string): string[] {
  const prefixes = [''];
  for (let end = path.indexOf('/', 1); end > 0; end = path.indexOf('/', end + 1)) {
    prefixes.push(path.slice(0, end));
  }
  return path === '' || path === '/' ? prefixes : [...prefixes, path];
}

function fault(words: string): never {
  throw new Refusal('InvalidArgument', words);
}

/** Returns `undefined` for an empty line and a comment. */
function readLine(line: string): SiteRule | undefined {
  const trimmed = line.trim();
  if (trimmed === '' || trimmed.startsWith('#')) return undefined;
  const words = trimmed.split(/[ \t]+/);
  const comment = words.findIndex((word) => word.startsWith('#'));
  const [from = '', to, status = '301', more] = comment < 0 ? words : words.slice(0, comment);
  if (to === undefined) {
    return fault('a rule is "from to status", such as "/old /new 301".');
  }
  const isCondition = /^[A-Za-z]+=/.test(to);
  if (more !== undefined || isCondition) {
    return fault(
      `${quote(isCondition ? to : (more ?? ''))} is a condition, which is not supported: a rule is "from to status".`,
    );
  }
  const rule = { from: readFrom(from), status: readStatus(status) };
  return { ...rule, to: isRedirect(rule) ? readLocation(to, rule.from) : readFile(to) };
}

function readStatus(text: string): number {
  const accepted = [...redirectStatuses, ...fileStatuses];
  if (text.endsWith('!')) {
    return fault(
      `${quote(text)} would replace files, which is not supported: remove the "!", and remove or ` +
        'rename the files.',
    );
  }
  const status = accepted.find((each) => text === `${each}`);
  return status ?? fault(`the status ${quote(text)} is not one of ${accepted.join(', ')}.`);
}

export function readFrom(text: string): string {
  if (!text.startsWith('/')) {
    return fault(`${quote(text)} must be a path of the site that begins with "/".`);
  }
  if (/[?#]/.test(text)) {
    return fault(`${quote(text)} has a query or fragment, which rules do not match: remove it.`);
  }
  const decoded = decodedOf(text);
  const path = decoded.endsWith('/') ? decoded.slice(0, -1) : decoded;
  if (path === '') return '/';
  const fixed = path.endsWith('/*') ? path.slice(0, -2) : path;
  if (fixed !== '') parseFilePath(fixed);
  const segments = fixed.split('/').slice(1);
  if (fixed.includes('*')) {
    return fault(`${quote(text)} has "*" elsewhere than in a final "/*".`);
  }
  if (segments.length > segmentsMax || path.length > fromLengthMax || isLong(path)) {
    return fault(
      `${quote(text)} is too long: at most ${segmentsMax} segments and ${fromLengthMax} bytes are accepted.`,
    );
  }
  const names = segments.filter((each) => each.startsWith(':'));
  if (names.length > placeholdersMax) {
    return fault(`${quote(text)} has more than ${placeholdersMax} placeholders.`);
  }
  const odd = names.find((each) => !isName(each.slice(1)));
  if (odd !== undefined) {
    return fault(`the placeholder ${quote(odd)} is not ":" with letters, digits and "_".`);
  }
  return path;
}

/** Paths and targets are in keys of 1,300 bytes together. */
function isLong(text: string): boolean {
  return 3 * text.length > fromLengthMax && encodeUtf8(text).length > fromLengthMax;
}

function isName(text: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(text);
}

function decodedOf(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return fault(`${quote(text)} has a malformed percent-encoding: write UTF-8 as %XX.`);
  }
}

/** Returns the path of the file that answers with 200, 404 or 410. */
function readFile(text: string): string {
  const example = 'name a file of the site, such as /index.html';
  if (!text.startsWith('/')) {
    return fault(
      `${quote(text)} is not a path of the site, and other sites are not fetched: ${example}.`,
    );
  }
  const decoded = decodedOf(text);
  if (/[?#]|\/:/.test(text) || decoded.includes('*')) {
    return fault(
      `${quote(text)} must be fixed, without query, fragment and placeholders: ${example}.`,
    );
  }
  const path = parseFilePath(decoded.endsWith('/') ? `${decoded}index.html` : decoded);
  if (isLong(path)) return fault(`${quote(text)} has more than ${fromLengthMax} bytes.`);
  return path;
}

/** A URL; placeholders can only be after its host. */
const urlPattern =
  /^https:\/\/[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?(?:[/?#].*)?$/;
const placeholders = /:([A-Za-z_][A-Za-z0-9_]*)/g;

/** Returns the target of a redirect, percent-encoded where a URL needs it. */
function readLocation(text: string, from: string): string {
  if (text.length > targetLengthMax) {
    return fault(
      `the target has ${text.length} characters; at most ${targetLengthMax} are accepted.`,
    );
  }
  const isPath = text.startsWith('/') && !text.startsWith('//');
  if (!isPath && !urlPattern.test(text)) {
    return fault(
      `the target ${quote(text)} must be a path that begins with one "/", or a URL that begins with ` +
        'https:// and the ASCII name of a host.',
    );
  }
  const [path = ''] = text.split(/[?#]/, 1);
  if (path.split('/').some((each) => each === '.' || each === '..')) {
    return fault(`the target ${quote(text)} has a "." or ".." segment: write it without.`);
  }
  const known = new Set(from.split('/').filter((each) => each.startsWith(':')));
  if (from.endsWith('/*')) known.add(':splat');
  for (const name of placeholdersIn(text)) {
    if (!known.has(name)) {
      return fault(`the target has ${quote(name)}, which ${quote(from)} does not define.`);
    }
  }
  // A pattern without `sticky` is tried at each character
  plainTarget.lastIndex = 0;
  return plainTarget.test(text) ? text : text.replace(oddCharacters, encodeURIComponent);
}

const plainTarget = /[!#-;=?-Z[\]_a-z~]*$/y;
const oddCharacters = /[^!#-;=?-Z[\]_a-z~]+/g;

function placeholdersIn(target: string): string[] {
  const start = target.startsWith('/') ? 0 : target.indexOf('/', 'https://'.length);
  if (start < 0 || !target.includes(':', start)) return [];
  return target.slice(start).match(placeholders) ?? [];
}

/** Returns the prefix of `/prefix/*`; '' for the whole site. */
export function wildcardPrefix(from: string): string | undefined {
  return from.endsWith('/*') ? from.slice(0, -2) : undefined;
}

/** Whether the target or the paths depend on placeholders, so that no answer is certified ahead. */
export function isComputed({ from, to, status }: SiteRule): boolean {
  return from.includes('/:') || (isRedirect({ status }) && placeholdersIn(to).length > 0);
}

/** Returns the prefix below which a computed rule matches paths. */
export function computedPrefix({ from }: SiteRule): string {
  const [fixed = ''] = from.split('/:', 1);
  return wildcardPrefix(fixed) ?? fixed;
}

/** Matches a decoded path without a final slash; returns the values of its placeholders. */
function capturesOf(from: string, path: string): Map<string, string> | undefined {
  const prefix = wildcardPrefix(from);
  const expected = from === '/' ? [''] : (prefix ?? from).split('/').slice(1);
  const found = path === '/' ? [''] : path.split('/').slice(1);
  if (prefix === '') return new Map([[':splat', path.slice(1)]]);
  const isShort = found.length < expected.length;
  if (isShort || (prefix === undefined && found.length > expected.length)) return undefined;
  const captures = new Map<string, string>();
  for (const [index, segment] of expected.entries()) {
    const value = found[index] ?? '';
    if (segment.startsWith(':')) captures.set(segment, value);
    else if (segment !== value) return undefined;
  }
  if ([...captures.values()].includes('')) return undefined;
  return captures.set(':splat', found.slice(expected.length).join('/'));
}

/** Returns the target of the rule for the path; `undefined` if the rule does not match. */
export function targetOf(rule: SiteRule, path: string): string | undefined {
  const captures = capturesOf(rule.from, path);
  if (captures === undefined) return undefined;
  if (!isComputed(rule) || !isRedirect(rule)) return rule.to;
  const start = rule.to.startsWith('/') ? 0 : rule.to.indexOf('/', 'https://'.length);
  const fill = (name: string) => {
    const value = captures.get(name);
    return value === undefined ? name : value.split('/').map(encodeURIComponent).join('/');
  };
  return rule.to.slice(0, start) + rule.to.slice(start).replace(placeholders, fill);
}
