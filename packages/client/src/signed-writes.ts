// Reads over HTTP, and writes through actor calls. A single node can claim over HTTP that a file
// was stored or deleted; the replies to calls carry the network's signature.
//
// Loaded with the first operation. Imports only types: shared modules would be split into many
// small files by a page's bundler.

import type { Transport } from './connection/transport.ts';
import type { Call, Calls, Operations } from './operations/table.ts';
import type { StorageError } from './storage-error.ts';

/**
 * The operations over HTTP; all others are calls. Chunks need no signature: a session begins and
 * ends by calls, and the signed completion has the entity tag of all chunks. `getUpload` is a call,
 * so that a session begun over HTTP, which no call can complete, is reported missing.
 */
const overHttp: readonly (keyof Operations)[] = [
  'getFile',
  'listFiles',
  'listFolder',
  'usage',
  'getEndToEnd',
  'status',
  'openFile',
  'readPart',
  'readFiles',
  'putChunk',
  'listLinks',
  'listUploadLinks',
  'listUploads',
  'listVersions',
];

/** The part of an operation's row that refuses arguments that cannot be part of a URL. */
export type Checks = Readonly<Record<keyof Operations, { request?(argument: unknown): unknown }>>;

export interface BothWays {
  readonly http: Transport;
  readonly checks: Checks;
  /** Returns the transport for writes; the first write calls it. */
  findWriter(): Promise<Transport>;
}

function hasCode(error: unknown, code: string): boolean {
  return (error as Partial<StorageError>).code === code;
}

interface InBucket {
  readonly bucket?: string;
  readonly from?: { readonly bucket: string };
}

/**
 * Returns whether the service is of version 0.1.0, according to its interface, which the network
 * signs. A node could claim that any service lacks a method, so that the write would go over HTTP.
 */
async function isEarlier(writer: Transport, { bucket, from }: InBucket): Promise<boolean> {
  const asked = bucket ?? from?.bucket ?? '';
  const mode = await writer.administration?.getBucketMode(asked, undefined).catch(() => undefined);
  return mode !== undefined && !('endToEnd' in mode);
}

/** Returns the operations; those that the actor of version 0.1.0 lacks go over HTTP. */
export function signedWrites({ http, checks, findWriter }: BothWays): Calls<Operations> {
  const call = (operation: keyof Operations): Call => {
    if (overHttp.includes(operation)) return http[operation] as Call;
    return async (argument, signal) => {
      checks[operation].request?.(argument);
      const transport = await findWriter();
      try {
        return await (transport[operation] as Call)(argument, signal);
      } catch (error) {
        const isLacking = hasCode(error, 'Unsupported');
        if (!isLacking || !(await isEarlier(transport, argument as InBucket))) throw error;
        return (http[operation] as Call)(argument, signal);
      }
    };
  };
  const names = Object.keys(checks) as (keyof Operations)[];
  const entries = names.map((operation) => [operation, call(operation)]);
  const calls: Calls<Operations> = Object.fromEntries(entries);
  const temporaryLinks = new Set<string>();
  return {
    ...calls,
    /** The temporary link of a download only serves to read, so it needs no signature. */
    async createLink(request, signal) {
      if (!request.isTemporary) return calls.createLink(request, signal);
      const link = await http.createLink(request, signal);
      temporaryLinks.add(link.id);
      return link;
    },
    removeLink: (link, signal) =>
      (temporaryLinks.delete(link.id) ? http : calls).removeLink(link, signal),
    /** A session begun over HTTP, such as by an earlier client, can be cancelled only over HTTP. */
    async cancelUpload(name, signal) {
      try {
        return await calls.cancelUpload(name, signal);
      } catch (error) {
        if (!hasCode(error, 'NoSuchUpload')) throw error;
        return http.cancelUpload(name, signal);
      }
    },
  };
}
