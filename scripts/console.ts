// Packs the console's pages, the OpenAPI file and other texts for the canister
// (src/domain/administration/console-pages.ts has the layout): compresses pages that benefit from
// it, and adds digests.

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { gzipSync } from 'node:zlib';
import { lookup } from 'mime-types';

/** Below this size compression hardly saves bytes, and `curl` can show uncompressed pages. */
const compressedBytesMin = 2_000;

interface PackedPage {
  readonly address: string;
  readonly contentType: string;
  readonly isCompressed: boolean;
  readonly bytes: Uint8Array;
}

/** Files that describe the interface, relative to the project's folder. */
export const webMcpPaths = {
  volume: 'candid/webmcp.json',
  front: 'candid/webmcp-front.json',
};
const openApiPath = 'docs/reference/openapi.json';
const apiDocPath = 'candid/api-doc.md';
export const descriptions = [openApiPath, apiDocPath, ...Object.values(webMcpPaths)];

/** Packs the files of a folder, with `index.html` as `/`, and the descriptions of the interface. */
export async function packPages(folder: string, projectDir: string): Promise<Uint8Array> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'));
  const pages = await Promise.all(
    names.sort().map(async (name) => packPage(name, await readFile(join(folder, name)))),
  );
  const read = (path: string) => readFile(join(projectDir, path));
  pages.push(packPage('openapi.json', servedOpenApi(await read(openApiPath))));
  pages.push(packText('api-doc', await read(apiDocPath)));
  for (const [role, path] of Object.entries(webMcpPaths)) {
    pages.push(packText(`webmcp-${role}`, restOfTools(await read(path))));
  }
  let offset = 0;
  const directory = pages.map(({ bytes, ...entry }) => {
    offset += bytes.length;
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    return { ...entry, offset: offset - bytes.length, size: bytes.length, sha256 };
  });
  const json = Buffer.from(JSON.stringify(directory));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(json.length);
  return new Uint8Array(Buffer.concat([length, json, ...pages.map(({ bytes }) => bytes)]));
}

/** Texts are UTF-8. */
function typeOf(name: string): string {
  const type = lookup(name) || 'application/octet-stream';
  return /^text\/|javascript|json/.test(type) ? `${type}; charset=utf-8` : type;
}

/** Returns the description for clients that load it from the service: without other servers. */
function servedOpenApi(text: Buffer): Buffer {
  const described = JSON.parse(text.toString());
  return Buffer.from(JSON.stringify({ ...described, servers: [{ url: '/' }] }));
}

function packPage(name: string, bytes: Buffer): PackedPage {
  const compressed = gzipSync(bytes, { level: 9 });
  const isCompressed = bytes.length >= compressedBytesMin && compressed.length < bytes.length;
  return {
    address: name === 'index.html' ? '/' : `/${name}`,
    contentType: typeOf(name),
    isCompressed,
    bytes: isCompressed ? compressed : bytes,
  };
}

/** Returns the part after the canister's id, which the canister writes (src/http/discovery.ts). */
function restOfTools(text: Buffer): Buffer {
  const head = '{"schema_version":"1.0","canister":{';
  const json = JSON.stringify(JSON.parse(text.toString()));
  if (!json.startsWith(head)) throw new Error(`The description of tools must begin with ${head}`);
  return Buffer.from(`${json.slice(head.length)}\n`);
}

/** Answers contain the text, so it is not compressed. */
function packText(name: string, bytes: Buffer): PackedPage {
  return { address: name, contentType: 'text/plain', isCompressed: false, bytes };
}
