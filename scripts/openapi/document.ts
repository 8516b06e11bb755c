// Generates docs/reference/openapi.json, the HTTP interface as OpenAPI 3.1, from the table of
// routes, the descriptions in this folder, and the sentences of docs/reference/http.md.

import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { version } from '../../package.json';
import { gatewayDomains } from '../../packages/wire/src/gateways.ts';
import { routes } from '../../src/http/routes.ts';
import { batchOperations } from './batch-operations.ts';
import { filePath, type Operations, type Schema, text } from './description.ts';
import { fileOperations } from './file-operations.ts';
import { requestHeaders } from './header-fields.ts';
import {
  type Described,
  operationObject,
  requireKnown,
  withSentences,
} from './operation-object.ts';
import { records } from './records.ts';
import { readSections, type Section } from './reference-page.ts';
import { errorComponents, forHead, headerComponents } from './responses.ts';
import { serviceOperations } from './service-operations.ts';
import { thumbnailOperations } from './thumbnail-operations.ts';
import { tusOperations } from './tus-operations.ts';

type Made = Readonly<Record<string, unknown>>;

const projectDir = join(dirname(fileURLToPath(import.meta.url)), '../..');
const operations: Operations = {
  ...fileOperations,
  ...batchOperations,
  ...thumbnailOperations,
  ...serviceOperations,
  ...tusOperations,
};

/** Returns the file's text. */
export async function openApiText(): Promise<string> {
  return openApiOf(await readFile(join(projectDir, 'docs/reference/http.md'), 'utf8'));
}

/** `page`: the text of http.md. Throws if routes, descriptions and the page differ. */
export function openApiOf(page: string): string {
  return `${JSON.stringify(documentOf(readSections(page)), null, 2)}\n`;
}

function documentOf(sections: readonly Section[]): Made {
  const described = sections.flatMap(describe);
  requireRoutes(described);
  described.filter(({ method }) => method !== 'HEAD').forEach(requireKnown);
  const paths: Record<string, Record<string, Made>> = {};
  for (const one of described) {
    paths[one.path] = { ...paths[one.path], [one.method.toLowerCase()]: operationObject(one) };
  }
  const components = {
    securitySchemes: {
      apiKey: { type: 'http', scheme: 'bearer', description: 'An API key of a bucket.' },
    },
    parameters: parameterComponents(),
    headers: headerComponents(),
    responses: errorComponents(),
    schemas: schemaComponents(sections),
  };
  return {
    openapi: '3.1.0',
    info,
    servers,
    tags: [...new Set(described.map(({ section }) => section.group))].map((name) => ({ name })),
    paths,
    components: onlyUsed(components, paths),
  };
}

const info = {
  title: 'Encrypted File Storage',
  summary: 'Files in buckets, stored by a canister on the Internet Computer',
  description:
    'Errors are JSON: `{"error": {"code", "message", "requestId", "details"?}}`. In the JSON ' +
    'of a request `null` is the same as an absent field. A method that a path does not support ' +
    'gives 405 `MethodNotAllowed`. OPTIONS gives 204 at every path. If a gateway cannot verify a ' +
    'response, it sends an error of its own, which is not JSON.',
  version,
  license: { name: 'MIT', identifier: 'MIT' },
};

const servers = [
  { url: 'http://localhost:4943', description: 'The local replica of `npm start`' },
  {
    url: 'https://{canisterId}.{gateway}',
    description: 'A canister on the Internet Computer',
    variables: {
      canisterId: { default: 'aaaaa-aa', description: 'The id of your canister' },
      gateway: { default: gatewayDomains[0], enum: gatewayDomains },
    },
  },
];

function describe(section: Section): Described[] {
  const { heading } = section;
  const operation = operations[heading];
  if (operation === undefined) {
    throw new Error(`scripts/openapi has no description of ${heading}, a section of http.md.`);
  }
  const [method = '', short = ''] = heading.split(' ');
  const path = short.replace(/^B\//, '/api/v1/bucket/{bucket}/');
  const described = { method, path, operation, section };
  if (!methodsAt(path).includes('HEAD') || method !== 'GET') return [described];
  return [described, { ...described, method: 'HEAD', operation: forHead(operation) }];
}

/** Returns the methods of the path in the table of routes. */
function methodsAt(path: string): string[] {
  const route = routes.find(({ pattern }) => isAt(pattern, path.replaceAll(/\{\w+\}/g, 'name')));
  return Object.keys(route?.handlers ?? {});
}

function isAt(pattern: RegExp, path: string): boolean {
  pattern.lastIndex = 0;
  return pattern.test(path);
}

/** Throws for a description without a section or route, and a route's method without one. */
function requireRoutes(described: readonly Described[]): void {
  const headings = described.map(({ section }) => section.heading);
  const faults = Object.keys(operations)
    .filter((heading) => !headings.includes(heading))
    .map((heading) => `${heading} has no section in http.md`);
  for (const { method, path } of described) {
    if (!methodsAt(path).includes(method)) faults.push(`${method} ${path} is not a route`);
  }
  // The console's pages are for people and not described
  for (const { pattern, handlers } of routes.filter((route) => !isAt(route.pattern, '/'))) {
    const at = described.filter(({ path }) => {
      return isAt(pattern, path.replaceAll(/\{\w+\}/g, 'name'));
    });
    const missing = Object.keys(handlers).filter(
      (name) => !at.some(({ method }) => method === name),
    );
    faults.push(...missing.map((method) => `${method} ${pattern} has no description`));
  }
  if (faults.length > 0) throw new Error(faults.join('\n'));
}

const pathParameters: Readonly<Record<string, { description: string; schema: Schema }>> = {
  bucket: { description: 'The id of the bucket.', schema: text },
  path: {
    description: 'The path of the file in the bucket. A slash may be sent as it is, or as %2F.',
    schema: filePath,
  },
  sessionId: { description: 'The id of the upload session.', schema: text },
  upload: { description: 'The id of the upload.', schema: text },
  index: {
    description: 'The index of the chunk, from 0.',
    schema: { type: 'integer', minimum: 0 },
  },
  id: { description: 'The id of the link.', schema: text },
  name: { description: "The last part of the address: a file's or text's name.", schema: text },
};

function parameterComponents(): Made {
  const inPath = Object.entries(pathParameters).map(([name, rest]) => {
    return [name, { name, in: 'path', required: true, ...rest }];
  });
  const inHeader = Object.entries(requestHeaders).map(([name, field]) => {
    const { says, schema }: { says?: string; schema: object } = field;
    return [name, { name, in: 'header', description: says, schema }];
  });
  return Object.fromEntries([...inPath, ...inHeader]);
}

function schemaComponents(sections: readonly Section[]): Made {
  const schemas = Object.entries(records).map(([name, record]) => {
    const heading = 'section' in record ? record.section : undefined;
    const section = sections.find((one) => one.heading === heading);
    return [name, section ? withSentences(record.schema, section) : record.schema];
  });
  return Object.fromEntries(schemas);
}

/** Omits components without references. */
function onlyUsed(components: Readonly<Record<string, Made>>, paths: Made): Made {
  const used = new Set<string>();
  const visit = (value: unknown): void => {
    for (const [, kind = '', name = ''] of referencesIn(value)) {
      const id = `${kind}/${name}`;
      if (used.has(id)) continue;
      used.add(id);
      visit(components[kind]?.[name]);
    }
  };
  visit(paths);
  const kept = Object.entries(components).map(([kind, made]) => {
    const isUsed = (name: string) => kind === 'securitySchemes' || used.has(`${kind}/${name}`);
    return [kind, Object.fromEntries(Object.entries(made).filter(([name]) => isUsed(name)))];
  });
  return Object.fromEntries(kept);
}

function referencesIn(value: unknown): IterableIterator<RegExpMatchArray> {
  return (JSON.stringify(value) ?? '').matchAll(/"#\/components\/(\w+)\/([\w.-]+)"/g);
}
