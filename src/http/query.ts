// The query of a URL in the encoding of forms and URLSearchParams: percent-encoded UTF-8, with a
// plus for a space. Texts from encodeURIComponent() are read correctly: it encodes a plus as %2B.

import { quote } from '../domain/shared/names.ts';
import { Refusal } from '../domain/shared/refusal.ts';
import type { HttpRequest } from './message.ts';

/** Returns the parameters with those names. Refuses a repeated or malformed one. */
export function readQuery<Name extends string>(
  request: HttpRequest,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const found: Partial<Record<Name, string>> = {};
  const [url = ''] = request.url.split('#', 1);
  const start = url.indexOf('?');
  const pairs = start === -1 ? [] : url.slice(start + 1).split('&');
  for (const pair of pairs) {
    const equals = pair.indexOf('=');
    const end = equals === -1 ? pair.length : equals;
    const name = names.find((known) => known === decodePart(pair.slice(0, end)));
    if (name === undefined) continue;
    if (found[name] !== undefined) {
      throw new Refusal('InvalidArgument', `The parameter ${name} occurs twice: send it once.`);
    }
    found[name] = decodePart(pair.slice(end + 1));
  }
  return found;
}

function decodePart(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new Refusal(
      'InvalidArgument',
      `The query has a malformed percent-encoding at ${quote(text)}: encode UTF-8 as %XX.`,
    );
  }
}

/** Reads decimal digits. Returns NaN, which the domain refuses, for any other text. */
export function parseCount(text: string | undefined): number | undefined {
  if (text === undefined) {
    return undefined;
  }
  return /^[0-9]{1,300}$/.test(text) ? Number(text) : Number.NaN;
}

/** Reads decimal digits and refuses any other text; `undefined` if absent. */
export function parseVersion(text: string | undefined): number | undefined {
  const version = parseCount(text);
  if (!Number.isNaN(version)) return version;
  throw new Refusal(
    'InvalidArgument',
    `version must be the number of a version, such as 3; got ${quote(text ?? '')}.`,
  );
}

export function versionAsked(request: HttpRequest): number | undefined {
  return parseVersion(readQuery(request, ['version']).version);
}

/** Reads `bypassGovernance` of a request that deletes. */
export function bypassAsked(request: HttpRequest): boolean {
  if (!request.url.includes('?')) return false;
  const { bypassGovernance: text = 'false' } = readQuery(request, ['bypassGovernance']);
  if (text === 'true' || text === 'false') return text === 'true';
  throw new Refusal(
    'InvalidArgument',
    `bypassGovernance must be true or false; got ${quote(text)}.`,
  );
}

/** Refuses a version in a request that changes the present file. */
export function refuseVersion(request: HttpRequest): void {
  if (readQuery(request, ['version']).version === undefined) return;
  throw new Refusal(
    'InvalidArgument',
    'Former versions cannot be changed: DELETE …/versions/{path}?version= erases one.',
  );
}
