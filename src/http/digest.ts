// The integrity fields Content-Digest and Repr-Digest (RFC 9530): dictionaries of RFC 9651 whose
// values are byte sequences, such as `sha-256=:…:`. Digests are compared in the domain.

import { Refusal } from '../domain/refusal.ts';
import { decodeBase64 } from '../lib/base64.ts';
import { type HttpRequest, header } from './message.ts';

const sha256Bytes = 32;
const fieldLengthMax = 1_024;
const parameter = '(?:;[ ]*[a-z*][a-z0-9_.*-]*(?:=[^,;]*)?)*';
const member = `([a-z*][a-z0-9_.*-]*)=:([A-Za-z0-9+/=]*):${parameter}`;
const fieldPattern = new RegExp(`^${member}(?:[ \\t]*,[ \\t]*${member})*$`);

/**
 * The SHA-256 digests that the request says its content has; none when it says nothing, or uses
 * other algorithms only, which are ignored. Refuses a malformed field with InvalidArgument.
 */
export function sentDigests(request: HttpRequest): Uint8Array[] {
  // A request's content is the whole representation here, so both fields are about the same bytes.
  return ['Content-Digest', 'Repr-Digest'].flatMap((name) => {
    const value = header(request, name.toLowerCase());
    return value === undefined ? [] : parseDigests(name, value);
  });
}

/** The digest of `sha-256`; of several members with one key the last counts (RFC 9651 §3.2). */
function parseDigests(name: string, value: string): Uint8Array[] {
  if (value.length > fieldLengthMax || !fieldPattern.test(value)) {
    throw malformed(name);
  }
  const values = [...value.matchAll(new RegExp(member, 'g'))]
    .filter(([, key]) => key === 'sha-256')
    .map(([, , base64 = '']) => base64);
  const last = values.at(-1);
  if (last === undefined) {
    return [];
  }
  const digest = decodeBase64(last);
  if (digest?.length !== sha256Bytes) {
    throw malformed(name);
  }
  return [digest];
}

function malformed(name: string): Refusal {
  return new Refusal(
    'InvalidArgument',
    `The header ${name} must be a dictionary of digests in base64 between colons, such as ` +
      'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:.',
  );
}
