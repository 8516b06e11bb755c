// The JSON body of a request as typed fields. Unknown fields are ignored.

import { jsonShape } from '../crypto/byte-search.ts';
import { quote } from '../domain/shared/names.ts';
import { Refusal } from '../domain/shared/refusal.ts';
import { decodeHex } from '../lib/hex.ts';
import { decodeUtf8, encodeUtf8 } from '../lib/text.ts';
import { jsonBodyBytesMax, jsonContainerCountMax, jsonItemCountMax } from '../limits.ts';
import { type HttpRequest, header } from './message.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** Limits of a body. */
export interface JsonBounds {
  readonly bytesMax: number;
  /** Total number of items in all lists and objects. */
  readonly itemsMax: number;
}

const usualBounds: JsonBounds = { bytesMax: jsonBodyBytesMax, itemsMax: jsonBodyBytesMax };

/** Returns the object of the body; an empty body is an empty object. */
export function jsonBody(request: HttpRequest, bounds = usualBounds): JsonObject {
  const { body } = request;
  const { bytesMax, itemsMax } = bounds;
  if (body.length > bytesMax) {
    throw new Refusal(
      'EntityTooLarge',
      `The JSON of this request must have at most ${bytesMax} bytes; it has ${body.length}.`,
      { limit: bytesMax, size: body.length },
    );
  }
  return readObject(body, 'The body', itemsMax);
}

/** Returns the pairs of a header field that is a JSON object of strings; none without the field. */
export function jsonHeaderPairs(request: HttpRequest, name: string): [string, string][] {
  const text = header(request, name);
  if (text === undefined) return [];
  const object = readObject(encodeUtf8(text), `The header ${name}`, usualBounds.itemsMax);
  return textPairsField({ [name]: object }, name) ?? [];
}

function readObject(bytes: Uint8Array, subject: string, itemsMax: number): JsonObject {
  // Parsers recurse into each nested object or list, and a stack overflow cannot be caught.
  const { containers, commas } = jsonShape(bytes);
  if (containers > jsonContainerCountMax) {
    throw new Refusal(
      'InvalidArgument',
      `${subject} must be a JSON object with at most ${jsonContainerCountMax} objects and lists in it.`,
    );
  }
  if (commas >= itemsMax) {
    throw new Refusal(
      'InvalidArgument',
      `${subject} has more than ${itemsMax} list items in total.`,
    );
  }
  const text = decodeUtf8(bytes);
  const value = text === undefined ? undefined : parseJson(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Refusal('InvalidArgument', `${subject} must be a JSON object in UTF-8.`);
  }
  return value as JsonObject;
}

function parseJson(text: string): unknown {
  try {
    return text.trim() === '' ? {} : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Absent and null are equivalent. */
function field(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? (object[name] ?? undefined) : undefined;
}

function wrong(name: string, expected: string): Refusal {
  return new Refusal('InvalidArgument', `The field ${quote(name)} must be ${expected}.`);
}

export function textField(object: JsonObject, name: string): string | undefined {
  const value = field(object, name);
  if (value !== undefined && typeof value !== 'string') {
    throw wrong(name, 'a string');
  }
  return value;
}

export function hexField(object: JsonObject, name: string): Uint8Array | undefined {
  const text = textField(object, name);
  if (text === undefined) return undefined;
  const bytes = decodeHex(text);
  if (bytes === undefined) throw wrong(name, 'hexadecimal digits');
  return bytes;
}

export function flagField(object: JsonObject, name: string): boolean | undefined {
  const value = field(object, name);
  if (value !== undefined && typeof value !== 'boolean') throw wrong(name, 'true or false');
  return value;
}

/** Parses an ISO 8601 time with an offset from UTC, as nanoseconds since 1970. */
export function timeField(object: JsonObject, name: string): bigint | undefined {
  const text = textField(object, name);
  if (text === undefined) return undefined;
  const milliseconds = /^\d{4}-\d\d-\d\dT[0-9:.]{5,12}(?:Z|[+-]\d\d:\d\d)$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  if (Number.isNaN(milliseconds)) {
    throw new Refusal('InvalidArgument', `${name} must be a time such as 2030-01-31T12:00:00Z.`);
  }
  return BigInt(milliseconds) * 1_000_000n;
}

export function objectField(object: JsonObject, name: string): JsonObject | undefined {
  const value = field(object, name);
  if (value !== undefined && (typeof value !== 'object' || Array.isArray(value))) {
    throw wrong(name, 'an object');
  }
  return value as JsonObject | undefined;
}

export function sizeField(object: JsonObject, name: string): bigint | undefined {
  const value = field(object, name);
  if (value === undefined) {
    return undefined;
  }
  if (!Number.isSafeInteger(value) || Number(value) < 0) {
    throw wrong(name, 'a whole number of bytes, such as 1048576');
  }
  return BigInt(Number(value));
}

export function textListField(
  object: JsonObject,
  name: string,
  countMax = jsonItemCountMax,
): readonly string[] | undefined {
  const value = field(object, name);
  if (value === undefined) {
    return undefined;
  }
  const isList = Array.isArray(value) && value.length <= countMax;
  if (!isList || !value.every((item) => typeof item === 'string')) {
    throw wrong(name, `a list of at most ${countMax} strings`);
  }
  return value;
}

export function textPairsField(object: JsonObject, name: string): [string, string][] | undefined {
  const value = field(object, name);
  if (value === undefined) {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw wrong(name, 'an object of strings');
  }
  const entries = Object.entries(value);
  if (entries.length > jsonItemCountMax) {
    throw wrong(name, `an object of at most ${jsonItemCountMax} strings`);
  }
  return entries.map(([key, item]) => {
    if (typeof item !== 'string') {
      throw wrong(name, 'an object of strings');
    }
    return [key, item];
  });
}

export function versionField(object: JsonObject): number | undefined {
  const value = field(object, 'version');
  if (value === undefined || (Number.isSafeInteger(value) && Number(value) >= 0)) {
    return value as number | undefined;
  }
  throw wrong('version', 'the number of a version, such as 3');
}

/** Returns the conditions of a write from the body or, if absent, from the header fields. */
export function conditionFields(request: HttpRequest, body: JsonObject) {
  return {
    ifMatch: textField(body, 'ifMatch') ?? header(request, 'if-match'),
    ifNoneMatch: textField(body, 'ifNoneMatch') ?? header(request, 'if-none-match'),
  };
}

/** Returns the type, tags, headers and metadata of a file in a request. */
export function notesField(object: JsonObject) {
  return {
    contentType: textField(object, 'contentType'),
    tags: textListField(object, 'tags'),
    headers: textPairsField(object, 'headers'),
    metadata: textPairsField(object, 'metadata'),
  };
}
