// Share links.

import type { CallOptions } from './call-options.ts';
import type { FileName, ShownPath } from './files.ts';

export interface LinkRequest extends FileName, CallOptions {
  /** Without it the link works until it is removed. */
  readonly expiresAt?: Date | undefined;
  /**
   * Browsers save the file under this name; without it they display the file.
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * const { url } = await storage.links.create({ ...file, downloadName: 'hello.txt' });
   * console.log(url);
   * ```
   */
  readonly downloadName?: string | undefined;
  /**
   * Recipients need it besides the address. The service never receives it, and allows ten wrong
   * passwords, and ten more per hour.
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * const { url } = await storage.links.create({ ...file, password: 'violet anchor 7' });
   * console.log(url);
   * ```
   */
  readonly password?: string | undefined;
  /**
   * Number of downloads after which the link ends: it hands out less than one download more than
   * that, as parts count by their bytes. Without it, nothing is counted, and downloads are free:
   * each request for a counted file is an update.
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * const { url } = await storage.links.create({ ...file, maxDownloads: 3 });
   * console.log(url);
   * ```
   */
  readonly maxDownloads?: number | undefined;
  /**
   * Gives the link a page at `pageUrl`, of which messengers show this title and, of a picture, the
   * file. At most 200 characters; not with a password, and not in end-to-end buckets.
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * const { pageUrl } = await storage.links.create({ ...file, title: 'Our notes' });
   * console.log(pageUrl);
   * ```
   */
  readonly title?: string | undefined;
}

/**
 * A link with its address, which only create() returns. Anyone with the address can read the file.
 */
export interface NewLink {
  readonly id: string;
  /**
   * The whole address, below the storage's `url` or, with the actor, below the canister's address
   * on the network or on this machine. With any other host it is the path, from its first slash.
   */
  readonly url: string;
  /** ISO 8601. */
  readonly expiresAt?: string | undefined;
  /**
   * Address of the front's page that opens links to end-to-end files, if the service has a front.
   * The `url` of such a link begins with it.
   */
  readonly linkPage?: string | undefined;
  readonly hasPassword?: boolean | undefined;
  readonly maxDownloads?: number | undefined;
  readonly title?: string | undefined;
  /** Address of the page of a link with a title. */
  readonly pageUrl?: string | undefined;
}

export interface LinkRecord extends ShownPath {
  readonly id: string;
  readonly path: string;
  /** The last segment of the address. */
  readonly name: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly expiresAt?: string | undefined;
  /** Principal that made the link; returned only to owners who call the actor. */
  readonly maker?: string | undefined;
  /** Id of the API key that made it; returned to owners, and to keys with every permission. */
  readonly keyId?: string | undefined;
  readonly hasPassword?: boolean | undefined;
  readonly maxDownloads?: number | undefined;
  /** Present with `maxDownloads`; a begun download counts. */
  readonly downloadCount?: number | undefined;
  readonly title?: string | undefined;
}

export interface LinkListOptions extends CallOptions {
  readonly bucket: string;
  /**
   * Lists only the links to this file.
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * for await (const { id, createdAt } of storage.links.list(file)) console.log(id, createdAt);
   * ```
   */
  readonly path?: string | undefined;
}
