// A module of the service in a file, and the version in its metadata.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { versionSection } from '../../../client/src/actor/module-metadata.ts';
import { UsageError } from '../output/usage-error.ts';

export interface ModuleFile {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** SHA-256 in hexadecimal. */
  readonly hash: string;
  readonly version: string;
}

/** A message of the network has at most 2 MiB. */
const bytesMax = 2_000_000;
/** Bound on the module after decompression. */
const wasmBytesMax = 100_000_000;

/** Reads a module, compressed by gzip or not. */
export function readModule(file: string): ModuleFile {
  const bytes = readBytes(file);
  if (bytes.length > bytesMax) {
    throw new UsageError(
      `${file} has ${bytes.length} bytes, and a message of the network at most ${bytesMax}: ` +
        'compress it with gzip -9.',
    );
  }
  const version = textOf(bytes, versionSection);
  if (version === undefined) {
    throw new UsageError(
      `${file} is not a module of this service, or one of version 0.2.0 or earlier: give the ` +
        'file_storage.wasm.gz of a later release.',
    );
  }
  return { name: file, bytes, hash: createHash('sha256').update(bytes).digest('hex'), version };
}

function readBytes(file: string): Uint8Array {
  try {
    return new Uint8Array(readFileSync(file));
  } catch (error) {
    throw new UsageError(`The module cannot be read: ${(error as Error).message}`);
  }
}

/** Returns a text of a module's public metadata; undefined if it has none, or is no module. */
export function textOf(bytes: Uint8Array, section: string): string | undefined {
  try {
    const isCompressed = bytes[0] === 0x1f && bytes[1] === 0x8b;
    const wasm = isCompressed ? gunzipSync(bytes, { maxOutputLength: wasmBytesMax }) : bytes;
    return metadataOf(wasm, `icp:public ${section}`);
  } catch {
    return undefined;
  }
}

const headerBytes = 8;

/** Returns the text of a custom section. WebAssembly specification, Binary Format, 5.5. */
function metadataOf(wasm: Uint8Array, wanted: string): string | undefined {
  const reader = { bytes: wasm, at: headerBytes };
  while (reader.at < wasm.length) {
    const id = wasm[reader.at++];
    const end = readLength(reader) + reader.at;
    if (id === 0) {
      const nameEnd = readLength(reader) + reader.at;
      const text = (from: number, to: number) => Buffer.from(wasm.subarray(from, to)).toString();
      if (text(reader.at, nameEnd) === wanted) return text(nameEnd, end);
    }
    reader.at = end;
  }
  return undefined;
}

/** Reads an unsigned LEB128 number of at most 32 bits. */
function readLength(reader: { readonly bytes: Uint8Array; at: number }): number {
  let value = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    const byte = reader.bytes[reader.at++] ?? 0;
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return value;
  }
  throw new RangeError('The module has a length with more than 32 bits.');
}

/** Returns whether version `one` precedes `two`. Semantic Versioning 2.0.0, without labels. */
export function isOlder(one: string, two: string): boolean {
  const [first, second] = [one, two].map((text) => text.split('.').map(Number)) as [
    number[],
    number[],
  ];
  for (let index = 0; index < 3; index++) {
    const difference = (first[index] ?? 0) - (second[index] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
