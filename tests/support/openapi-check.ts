// Compares responses of the service with docs/reference/openapi.json: statuses, header fields and
// bodies must match the file, and must have nothing that it does not describe.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { projectDir } from '../tidy/source-tree.ts';

interface Referring {
  readonly $ref?: string;
  readonly description?: string;
}

interface HeaderObject extends Referring {
  readonly required?: boolean;
}

interface ResponseObject extends Referring {
  readonly headers?: Readonly<Record<string, HeaderObject>>;
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}

interface OperationObject {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, ResponseObject>>>>;
}

export interface Operation extends OperationObject {
  readonly method: string;
  readonly path: string;
}

/** Header fields that the file omits: those of HTTP itself, of gateways and of CORS. */
const unsaid =
  /^(?:connection|keep-alive|date|transfer-encoding|content-length|content-type|vary|access-control-.*|strict-transport-security|ic-certificate.*|x-ic-.*)$/;

const document = JSON.parse(
  readFileSync(join(projectDir, 'docs/reference/openapi.json'), 'utf8'),
) as Document;

/** Paths with fewer parameters come first: `/upload/start` before `/upload/{sessionId}`. */
export const operations: readonly Operation[] = Object.entries(document.paths)
  .flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, rest]) => ({
      path,
      method: method.toUpperCase(),
      ...rest,
    })),
  )
  .sort((left, right) => left.path.split('{').length - right.path.split('{').length);

/** Returns the operation that answers the request; its path is a pattern of URLs. */
export function operationOf(method: string, url: string): Operation | undefined {
  const [path = ''] = url.split('?', 1);
  return operations.find((operation) => {
    const pattern = operation.path
      .replace(/\{path\}$|\{name\}$/, '.+')
      .replaceAll(/\{\w+\}/g, '[^/]+')
      .replaceAll('/.well', '/\\.well');
    return operation.method === method && new RegExp(`^${pattern}$`, 's').test(path);
  });
}

function resolve<T extends Referring>(object: T): T {
  const [, kind = '', name = ''] = /^#\/components\/(\w+)\/(.+)$/.exec(object.$ref ?? '') ?? [];
  const found = document.components[kind]?.[name];
  // The reference's own description has priority (OpenAPI 3.1, "Reference Object")
  return found === undefined ? object : ({ ...found, ...object } as T);
}

/** Returns the schema, refusing fields that it does not describe. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, closed(value)]),
  );
  const isOpen = 'properties' in inner && !('additionalProperties' in inner);
  return isOpen ? { ...inner, additionalProperties: false } : inner;
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
ajv.addFormat('binary', true);
ajv.addSchema({ $id: 'openapi', components: { schemas: closed(document.components.schemas) } });
const validators = new Map<object, ValidateFunction>();

function validatorOf(schema: object): ValidateFunction {
  const text = JSON.stringify(closed(schema)).replaceAll('"#/components', '"openapi#/components');
  const found = validators.get(schema) ?? ajv.compile(JSON.parse(text));
  validators.set(schema, found);
  return found;
}

export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly response: Response;
  readonly body: Uint8Array;
}

/** Returns the differences from the file as sentences. */
export function faultsOf(exchange: Exchange): string[] {
  const { method, url, response } = exchange;
  const where = `${method} ${url} ${response.status}`;
  const operation = operationOf(method, url);
  if (operation === undefined) return [`${where}: the file has no such operation`];
  const described = operation.responses[response.status];
  if (described === undefined) return [`${where}: the status is not described`];
  const whole = resolve(described);
  return [...headerFaults(response, whole), ...bodyFaults(exchange, whole)].map(
    (fault) => `${where}: ${fault}`,
  );
}

function headerFaults({ headers }: Response, { headers: described = {} }: ResponseObject) {
  const names = Object.keys(described).map((name) => name.toLowerCase());
  const missing = Object.entries(described)
    .filter(([name, header]) => resolve(header).required === true && !headers.has(name))
    .map(([name]) => `${name} is missing`);
  const others = [...headers.keys()]
    .filter((name) => !names.includes(name) && !unsaid.test(name))
    .map((name) => `${name} is not described`);
  return [...missing, ...others];
}

interface Refused {
  readonly error?: { readonly code?: string };
}

function bodyFaults({ method, response, body }: Exchange, described: ResponseObject): string[] {
  const { content } = described;
  if (content === undefined || method === 'HEAD') {
    return body.length === 0 ? [] : [`a body of ${body.length} bytes is not described`];
  }
  const type = response.headers.get('content-type')?.split(';')[0] ?? '';
  const media = content[type] ?? content['*/*'];
  if (media === undefined) return [`the type ${type} is not described`];
  if (type !== 'application/json' || content[type] === undefined) return [];
  const value: unknown = JSON.parse(new TextDecoder().decode(body));
  const validate = validatorOf(media.schema);
  const faults = validate(value) === true ? [] : (validate.errors ?? []);
  const codes: readonly string[] = described.description?.match(/(?<=`)[A-Za-z]+(?=`)/g) ?? [];
  const code = response.status >= 400 ? (value as Refused).error?.code : undefined;
  return [
    ...faults.map(({ instancePath, message, params }) => {
      return `${instancePath} ${message} ${JSON.stringify(params)} in ${JSON.stringify(value)}`;
    }),
    ...(code === undefined || codes.includes(code) ? [] : [`the code ${code} is not described`]),
  ];
}
