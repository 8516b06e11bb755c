// Generates candid/webmcp.json and webmcp-front.json: the most useful methods as tools for agents,
// in the form of DFINITY's ic-webmcp-codegen. Names, types and descriptions come from the .did
// file. The canister adds its id when it serves the text.

import { type CandidInterface, type CandidMethod, readInterface } from './candid-text.ts';
import { type Schema, schemaOf } from './json-schema.ts';

export const roles = ['volume', 'front'] as const;
type Role = (typeof roles)[number];

/** An anonymous caller without a key can use these, for example for files of public buckets. */
const openMethods = ['getApiDoc', 'getStatus', 'listVolumes', 'listFolder', 'getFile', 'readFile'];
const toolsOf: Readonly<Record<Role, readonly string[]>> = {
  volume: [
    ...['getApiDoc', 'getStatus', 'listBuckets', 'createBucket'],
    ...['listFolder', 'getFile', 'readFile', 'uploadFile', 'deleteFile'],
    ...['beginFileUpload', 'uploadFileChunkIndexed', 'completeFileUpload'],
    ...['createLink', 'listLinks', 'deleteLink'],
  ],
  front: ['getApiDoc', 'getStatus', 'listVolumes', 'createBucket'],
};
const rules =
  'Call get_api_doc first. Results are {ok} or {err}, where err is "Code: sentence". Numbers are ' +
  'strings of digits: sizes in bytes, times in nanoseconds since 1970.';
const descriptions: Readonly<Record<Role, string>> = {
  volume: `Encrypted file storage: files in buckets, and links to them. ${rules}`,
  front:
    'The front of an encrypted file storage: lists the volumes that store the files, and creates ' +
    `buckets at them. Each volume has tools at its own /.well-known/webmcp.json. ${rules}`,
};
const keyDescription = 'An API key; null: the rights of the signed principal.';
const scopeSeconds = 3_600;

/** Returns the file's text. `did`: the text of the .did file. */
export function webMcp(did: string, role: Role): string {
  const candid = readInterface(did);
  const methods = toolsOf[role].map((name) => {
    const method = candid.methods.get(name);
    if (method === undefined) throw new Error(`web-mcp.ts: the interface has no method ${name}`);
    return method;
  });
  const file = {
    schema_version: '1.0',
    canister: { name: 'Encrypted File Storage', description: descriptions[role] },
    tools: methods.map((method) => toolOf(method, candid)),
    authentication: {
      type: 'internet-identity',
      recommended_scope: Object.fromEntries(methods.filter(needsRights).map(scopeOf)),
    },
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}

function needsRights({ name }: CandidMethod): boolean {
  return !openMethods.includes(name);
}

function scopeOf({ name, comment }: CandidMethod): [string, object] {
  const [description = ''] = comment.split(/(?<=\.) /, 1);
  return [name, { max_ttl_seconds: scopeSeconds, description }];
}

/** No tool is `certified`: replies of queries have no certificate, those of updates need none. */
function toolOf(method: CandidMethod, candid: CandidInterface): object {
  const { name, comment, isQuery, result } = method;
  return {
    name: name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    description: comment,
    canister_method: name,
    method_type: isQuery ? 'query' : 'update',
    ...(needsRights(method) && { requires_auth: true }),
    inputSchema: inputSchema(method, candid),
    outputSchema: schemaOf(result, candid),
  };
}

/**
 * Clients pass a single record as a whole, and otherwise the properties `arg0`, `arg1` and so on.
 * They count these, so all are required, and null stands for an absent option.
 */
function inputSchema(method: CandidMethod, candid: CandidInterface): Schema {
  const [first = '', ...others] = method.arguments;
  const isRecord = others.length === 0 && candid.types.get(first)?.kind === 'record';
  if (isRecord) return schemaOf(first, candid);
  const properties = method.arguments.map((type, index) => {
    const title = method.argumentNames[index];
    const isKey = title === 'apiKey';
    const said = { ...(title && { title }), ...(isKey && { description: keyDescription }) };
    return [`arg${index}`, { ...said, ...schemaOf(type, candid) }] as const;
  });
  const required = properties.map(([name]) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
  };
}
