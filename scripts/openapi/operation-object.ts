// Builds one operation of the OpenAPI file from its description here and its section in http.md,
// which must have the same fields.

import type { Body, Operation, Schema } from './description.ts';
import { type RequestHeader, requestHeaders } from './header-fields.ts';
import { records } from './records.ts';
import type { Section } from './reference-page.ts';
import { responsesOf } from './responses.ts';

type Made = Readonly<Record<string, unknown>>;

export interface Described {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
  readonly section: Section;
}

export function operationObject(described: Described): Made {
  const { method, path, operation, section } = described;
  const { id, key, body } = operation;
  const isHead = method === 'HEAD';
  // Most answers to HEAD are described with GET
  const isLikeGet = isHead && !section.heading.startsWith('HEAD ');
  return {
    operationId: id,
    summary: isLikeGet ? 'Answers as GET does, without a body' : summaryOf(section),
    ...(!isLikeGet && { description: unwrapped(section.sentences) }),
    tags: [section.group],
    security: securityOf[key],
    parameters: parametersOf(described),
    ...(body && { requestBody: bodyObject(body, section) }),
    responses: responsesOf(operation, path, isHead),
    ...(!isLikeGet && { 'x-codeSamples': [{ lang: 'Shell', source: filled(section.example) }] }),
  };
}

const securityOf: Readonly<Record<Operation['key'], readonly object[]>> = {
  required: [{ apiKey: [] }],
  optional: [{}, { apiKey: [] }],
  none: [],
};

/** Returns the first sentence, up to a colon or semicolon. */
function summaryOf({ sentences }: Section): string {
  return /^[\s\S]*?(?=[.:;](?:\s|$))/.exec(sentences)?.[0].replaceAll('\n', ' ') ?? sentences;
}

/** Joins each paragraph into one line. */
function unwrapped(text: string): string {
  return text.replace(/(?<!\n)\n(?!\n|- )/g, ' ');
}

/** Returns the example with the values of its variables. */
function filled(example: string): string {
  return example
    .replaceAll('"$KEY"', "'Authorization: Bearer <API key>'")
    .replaceAll('$B/', 'http://localhost:4943/api/v1/bucket/demo/');
}

function parametersOf({ path, operation, section }: Described): Made[] {
  const { query = {}, requiredQuery = [], headers = [], key } = operation;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => {
    return { $ref: `#/components/parameters/${name}` };
  });
  const inQuery = Object.entries(query).map(([name, schema]) => ({
    name,
    in: 'query',
    ...(requiredQuery.includes(name) && { required: true }),
    description: saidOf(section, 'parameters', name),
    schema,
  }));
  const hasBucket = key !== 'none' && path.includes('{bucket}');
  const all: readonly RequestHeader[] = hasBucket ? ['X-Bucket-Id', ...headers] : headers;
  return [...inPath, ...inQuery, ...all.map((name) => headerParameter(name, section))];
}

function headerParameter(name: RequestHeader, section: Section): Made {
  const { says, schema }: { says?: string; schema: object } = requestHeaders[name];
  const own = section.fields.get(name);
  if (own === undefined && says !== undefined) return { $ref: `#/components/parameters/${name}` };
  return { name, in: 'header', description: own ?? saidOf(section, 'fields', name), schema };
}

function bodyObject(body: Body, section: Section): Made {
  const { types, schema, isOptional = false } = body;
  const described = withSentences(schema, section);
  const bodies = [...section.example.matchAll(/curl .*? -d '(.*?)'/g)].map(([, text = '']) => text);
  const examples = bodies.map((text, index) => [
    `example${index + 1}`,
    { value: JSON.parse(text) },
  ]);
  const isJson = types.includes('application/json') && examples.length > 0;
  const media = { schema: described, ...(isJson && { examples: Object.fromEntries(examples) }) };
  return { required: !isOptional, content: Object.fromEntries(types.map((type) => [type, media])) };
}

/** Adds the section's sentences to the fields of the schema. */
export function withSentences(schema: Schema, section: Section): Schema {
  if (schema.oneOf !== undefined) {
    return { ...schema, oneOf: schema.oneOf.map((one) => withSentences(one, section)) };
  }
  if (schema.properties === undefined) return schema;
  const properties = Object.entries(schema.properties).map(([name, property]) => {
    return [name, { description: saidOf(section, 'fields', name), ...property }];
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}

function saidOf(section: Section, kind: 'parameters' | 'fields', name: string): string {
  const said = section[kind].get(name);
  if (said === undefined) {
    throw new Error(`http.md, ${section.heading}: no table of ${kind} has a row for ${name}.`);
  }
  return said;
}

/** Throws if the section has a row for a field that the description of the operation lacks. */
export function requireKnown({ operation, section }: Described): void {
  const { query = {}, headers = [], body } = operation;
  const ofRecords = Object.values(records).flatMap((record) => {
    return 'section' in record && record.section === section.heading ? namesIn(record.schema) : [];
  });
  const known: string[] = [...headers, ...namesIn(body?.schema), ...ofRecords];
  if (body !== undefined) known.push('Content-Type');
  const unknown = [
    ...[...section.parameters.keys()].filter((name) => !(name in query)),
    ...[...section.fields.keys()].filter((name) => !known.includes(name)),
  ];
  if (unknown.length > 0) {
    throw new Error(
      `http.md, ${section.heading}: scripts/openapi does not describe ${unknown.join(', ')}.`,
    );
  }
}

function namesIn(schema: Schema | undefined): string[] {
  if (schema?.oneOf !== undefined) return schema.oneOf.flatMap(namesIn);
  return Object.keys(schema?.properties ?? {});
}
