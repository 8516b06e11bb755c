// The client over HTTP. Bundles that import only this file contain nothing of the agent.

import type { Connection } from './connection/connection.ts';
import { defaultRetryPolicy, type RetryNotice, type RetryPolicy } from './connection/retry.ts';
import { createLine } from './connection/transfer-window.ts';
import type { Transport } from './connection/transport.ts';
import type { BodySender, Fetch } from './connection/watched-fetch.ts';
import type { EndToEndLayer } from './end-to-end.ts';
import { type FileStorage, fileStorage } from './files/file-storage.ts';
import { createHttpTransport } from './http/transport.ts';
import { withoutLastSlashes } from './operations/url-paths.ts';
import { StorageError } from './storage-error.ts';

export interface CommonOptions {
  readonly apiKey?: string | undefined;
  /**
   * @example
   * ```ts
   * import { createHttpStorage } from '@encrypted-file-storage/client';
   *
   * const patient = createHttpStorage({
   *   url: 'https://<canister id>.icp.net',
   *   retry: { attemptsMax: 20 },
   *   timeoutMs: 120_000,
   *   onRetry: ({ attempt, delayMs, error }) => console.error(attempt, delayMs, error.message),
   * });
   * console.log((await patient.status()).version);
   * ```
   */
  readonly retry?: Partial<RetryPolicy> | undefined;
  /** Called for each failed attempt that will be repeated. */
  readonly onRetry?: ((notice: RetryNotice) => void) | undefined;
  /** A request fails with Timeout if none of its bytes moves for this time; 60,000 by default. */
  readonly timeoutMs?: number | undefined;
  /**
   * @example
   * ```ts
   * import { createHttpStorage } from '@encrypted-file-storage/client';
   *
   * const logging = createHttpStorage({
   *   url: 'https://<canister id>.icp.net',
   *   fetch: (input, init) => {
   *     console.log(init?.method, String(input));
   *     return fetch(input, init);
   *   },
   * });
   * console.log((await logging.status()).version);
   * ```
   */
  readonly fetch?: Fetch | undefined;
  /**
   * Sends the bodies of uploads and reports their progress, for `onProgress` and `timeoutMs`.
   * createNodeStorage() sets a sender unless `fetch` is given; browsers can use `xhrSender`.
   * Without a sender, a body counts as sent when its response begins.
   */
  readonly sendBody?: BodySender | undefined;
  /**
   * Returns the media type of a path's extension, like `lookup` of mime-types.
   *
   * @example
   * ```ts
   * import { createHttpStorage } from '@encrypted-file-storage/client';
   *
   * const models = createHttpStorage({
   *   url: 'https://<canister id>.icp.net',
   *   apiKey: '<API key>',
   *   contentTypeOf: (path) => (path.endsWith('.glb') ? 'model/gltf-binary' : undefined),
   * });
   * await models.upload(new Blob(['glTF']), { bucket: 'demo', path: 'chair.glb' });
   * ```
   */
  readonly contentTypeOf?: ((path: string) => string | false | undefined) | undefined;
  /**
   * `endToEnd()` encrypts and decrypts files of end-to-end buckets. With the actor it is the
   * default; over HTTP it must be given, because the first upload then asks for the bucket's mode,
   * which takes a few seconds. `createHttpStorage` also needs `pinnedRecipients`.
   */
  readonly endToEnd?: EndToEndLayer | undefined;
}

/** Options for HTTP. `url`: the canister's address at a gateway, https://<canister id>.icp.net. */
export interface HttpStorageOptions extends CommonOptions {
  readonly url: string;
}

/**
 * Returns a client over HTTP that adds nothing of the agent to a bundle. It trusts the gateway and
 * the node that answers: one node can claim that a file was stored or deleted, and invent a
 * bucket's recipients, which is why `endToEnd()` needs `pinnedRecipients` here.
 *
 * @example
 * ```ts
 * import { createHttpStorage } from '@encrypted-file-storage/client';
 *
 * const storage = createHttpStorage({ url: 'https://<canister id>.icp.net', apiKey: '<API key>' });
 * console.log(await storage.usage({ bucket: 'demo' }));
 * ```
 */
export function createHttpStorage(options: HttpStorageOptions): FileStorage {
  const connection = connectionOver(httpTransport(options), options);
  return options.endToEnd?.(connection).files ?? fileStorage(connection);
}

export function httpTransport(options: HttpStorageOptions): Transport {
  const { apiKey } = options;
  const url = withoutLastSlashes(options.url);
  return createHttpTransport({ url, apiKey, ...exchangeOptions(options) });
}

const timeoutMsDefault = 60_000;

/** Throws InvalidArgument if the API key contains anything but visible ASCII characters. */
export function exchangeOptions(options: CommonOptions) {
  const { apiKey, fetch, timeoutMs = timeoutMsDefault } = options;
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    // fetch would repeat the key in its own error.
    throw new StorageError('InvalidArgument', 'The API key must have no spaces.');
  }
  const send = fetch ?? globalThis.fetch.bind(globalThis);
  const ownFetch: Fetch = (input, init) =>
    unlessRedirected(input, () => send(input, { ...init, redirect: 'error' }));
  const { sendBody } = options;
  const ownSender: BodySender | undefined =
    sendBody &&
    ((url, init, onSent) =>
      unlessRedirected(url, () => sendBody(url, { ...init, redirect: 'error' }, onSent)));
  return { fetch: ownFetch, sendBody: ownSender, timeoutMs, line: createLine() };
}

/** Refuses redirects, which could send keys, signed calls and file contents to another host. */
async function unlessRedirected(
  input: Parameters<Fetch>[0],
  send: () => Promise<Response>,
): Promise<Response> {
  try {
    return await send();
  } catch (error) {
    throw redirectError(input, error) ?? error;
  }
}

/** Only Node reports that a redirect was the cause; browsers report every failure alike. */
function redirectError(input: Parameters<Fetch>[0], error: unknown): StorageError | undefined {
  const { cause } = error as { readonly cause?: { readonly message?: string } };
  if (cause?.message !== 'unexpected redirect') return undefined;
  const { origin } = new URL(input instanceof Request ? input.url : input);
  return new StorageError(
    'HttpError',
    `${origin} redirects to another address, which could take your key or your files. Give the ` +
      'final address of the service.',
    { cause: error },
  );
}

export function connectionOver(
  transport: Transport,
  { retry, onRetry, contentTypeOf }: CommonOptions,
): Connection {
  return {
    transport,
    retryPolicy: { ...defaultRetryPolicy, ...retry },
    onRetry,
    contentTypeOf: (path) => contentTypeOf?.(path) || undefined,
  };
}
