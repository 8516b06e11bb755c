// The description of an operation of the HTTP interface: the parameters of its request, and its
// responses. The schemas are in this folder, the sentences in docs/reference/http.md, and the
// statuses of errors in packages/wire.

import type { errorStatuses } from '../../packages/wire/src/error-status.ts';
import { filePathBytesMax, storedHeaderLengthMax } from '../../src/limits.ts';
import type { RequestHeader, ResponseHeader } from './header-fields.ts';

export type ErrorCode = keyof typeof errorStatuses;

/** The part of JSON Schema 2020-12 that openapi.json uses. */
export interface Schema {
  readonly $ref?: string;
  readonly title?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly oneOf?: readonly Schema[];
  readonly examples?: readonly unknown[];
}

export interface Body {
  /** Media types, the preferred one first. */
  readonly types: readonly string[];
  readonly schema: Schema;
  readonly isOptional?: true;
}

/** A successful answer. */
export interface Answer {
  readonly says: string;
  readonly schema?: Schema;
  /** Media type of the body; default `application/json`. Without a schema, there is no body. */
  readonly type?: string;
  readonly headers?: readonly ResponseHeader[];
  /** Header fields that only some answers have. */
  readonly otherHeaders?: readonly ResponseHeader[];
}

export interface Operation {
  /** The `operationId`: the name of the actor's equivalent method, if there is one. */
  readonly id: string;
  /** Whether the request carries an API key. */
  readonly key: 'required' | 'optional' | 'none';
  readonly query?: Readonly<Record<string, Schema>>;
  readonly requiredQuery?: readonly string[];
  readonly headers?: readonly RequestHeader[];
  readonly body?: Body;
  readonly answers: Readonly<Record<number, Answer>>;
  readonly errors: readonly ErrorCode[];
  /** Whether a 404 may be an HTML page of a site instead of JSON. */
  readonly errorPages?: true;
}

/** Keys have the form of http.md's headings, method and path: `PUT B/files/{path}`. */
export type Operations = Readonly<Record<string, Operation>>;

export function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** An object; every property is required except the optional ones. */
export function object<Name extends string>(
  properties: Readonly<Record<Name, Schema>>,
  optional: readonly NoInfer<Name>[] = [],
): Schema {
  const required = (Object.keys(properties) as Name[]).filter((name) => !optional.includes(name));
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

export function list(items: Schema, maxItems?: number): Schema {
  return { type: 'array', items, ...(maxItems !== undefined && { maxItems }) };
}

export function orNull(schema: Schema): Schema {
  return { oneOf: [schema, { type: 'null' }] };
}

export const text: Schema = { type: 'string' };
/** A path or prefix is limited in bytes of UTF-8, and has at most as many characters. */
export const filePath: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: filePathBytesMax,
  pattern: '^[^\\u0000-\\u001f\\u007f]+$',
};
export const prefix: Schema = { type: 'string', maxLength: filePathBytesMax };
/** `*` or entity tags. */
export const condition: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: storedHeaderLengthMax,
};
export const flag: Schema = { type: 'boolean' };
/** A size, a count or another number. */
export const count: Schema = { type: 'integer', minimum: 0 };
export const time: Schema = { type: 'string', format: 'date-time' };
export const sha256: Schema = { type: 'string', pattern: '^[0-9a-f]{64}$' };
/** In requests, the digits can have either case. */
export const sentSha256: Schema = { type: 'string', pattern: '^[0-9A-Fa-f]{64}$' };
export const bytes: Schema = { type: 'string', format: 'binary' };
export const texts: Schema = { type: 'object', additionalProperties: text };
