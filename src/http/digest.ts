// The integrity fields Content-Digest and Repr-Digest (RFC 9530): dictionaries of RFC 9651 whose
// values are byte sequences, such as `sha-256=:…:`. Digests are compared in the domain.

import { Refusal } from '../domain/shared/refusal.ts';
import { decodeBase64 } from '../lib/base64.ts';
import { type HttpRequest, header } from './message.ts';

const sha256Bytes = 32;
const fieldLengthMax = 1_024;
/** Maximum total number of members of a dictionary and of their parameters. */
const piecesMax = 32;

/**
 * Returns the SHA-256 digests that the request declares for its content; an empty list if there is
 * none. Ignores other algorithms. Refuses a malformed field with InvalidArgument.
 */
export function sentDigests(request: HttpRequest): Uint8Array[] {
  // A request's content is the whole representation here, so both fields describe the same bytes.
  return ['Content-Digest', 'Repr-Digest'].flatMap((name) => {
    const value = header(request, name.toLowerCase());
    return value === undefined ? [] : parseDigests(name, value);
  });
}

/** Returns the digest of `sha-256`; if the key is repeated, the last one counts (RFC 9651 §3.2). */
function parseDigests(name: string, value: string): Uint8Array[] {
  const members = value.length > fieldLengthMax ? undefined : readMembers(value);
  if (members === undefined) {
    throw malformed(name);
  }
  const last = members.findLast(([key]) => key === 'sha-256')?.[1];
  if (last === undefined) {
    return [];
  }
  const digest = decodeBase64(last);
  if (digest?.length !== sha256Bytes) {
    throw malformed(name);
  }
  return [digest];
}

/**
 * Returns the members of a dictionary as keys and base64, or `undefined` if it is malformed. It
 * parses member by member: a single pattern could match parameters and spaces in exponentially many
 * ways.
 */
function readMembers(value: string): [key: string, base64: string][] | undefined {
  const member = /[ \t]*([a-z*][a-z0-9_.*-]*)=:([A-Za-z0-9+/=]*):/y;
  const parameter = /; *[a-z*][a-z0-9_.*-]*/y;
  const separator = /[ \t]*,/y;
  const members: [string, string][] = [];
  let end = 0;
  for (let pieces = 0; pieces < piecesMax; pieces++) {
    member.lastIndex = end;
    const [, key, base64] = member.exec(value) ?? [];
    if (key === undefined || base64 === undefined) {
      return undefined;
    }
    members.push([key, base64]);
    end = member.lastIndex;
    parameter.lastIndex = end;
    for (; pieces < piecesMax && parameter.test(value); pieces++) {
      end = parameter.lastIndex;
      end = endOfParameterValue(value, end);
      parameter.lastIndex = end;
    }
    if (end === value.length) {
      return members;
    }
    separator.lastIndex = end;
    if (!separator.test(value)) {
      return undefined;
    }
    end = separator.lastIndex;
  }
  return undefined;
}

/** The value of a parameter, which is a bare item of RFC 9651 §3.3, after its equals sign. */
const parameterValues = [
  /=@?-?\d{1,15}(?![\d.])/y, // an integer or a date
  /=-?\d{1,12}\.\d{1,3}(?!\d)/y,
  /=\?[01]/y,
  /=[A-Za-z*][!#$%&'*+.^_`|~:/\w-]*/y,
  /=:[A-Za-z0-9+/=]*:/y,
  /="(?:[ !#-[\]-~]|\\["\\])*"/y,
  /=%"(?:[ !#$&-~]|%[0-9a-f]{2})*"/y,
];

/** Returns the end of the value that begins at `start`, or `start` without a valid one. */
function endOfParameterValue(field: string, start: number): number {
  for (const pattern of parameterValues) {
    pattern.lastIndex = start;
    if (pattern.test(field)) return pattern.lastIndex;
  }
  return start;
}

function malformed(name: string): Refusal {
  return new Refusal(
    'InvalidArgument',
    `The header ${name} must be a dictionary of digests in base64 between colons, such as ` +
      'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:.',
  );
}
