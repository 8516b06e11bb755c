// Sends bodies by XMLHttpRequest, because a browser's fetch() does not report how many bytes it has
// sent. https://xhr.spec.whatwg.org

import type { BodySender } from './watched-fetch.ts';

/**
 * Sends bodies in browsers and reports their progress; pass it as the option `sendBody`.
 * XMLHttpRequest follows redirects, so the page's Content-Security-Policy must list in
 * `connect-src` the hosts that may receive files.
 *
 * @example
 * ```ts
 * import { createStorage, xhrSender } from '@encrypted-file-storage/client';
 *
 * const storage = createStorage({ url: 'https://<canister id>.icp.net', sendBody: xhrSender });
 * ```
 */
export const xhrSender: BodySender = (url, { method, headers, body, signal }, onSent) =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const fail = () => reject(new TypeError('The request was not answered.'));
    const stop = () => request.abort();
    request.open(method ?? 'GET', url);
    request.responseType = 'arraybuffer';
    new Headers(headers).forEach((value, name) => {
      request.setRequestHeader(name, value);
    });
    request.upload.onprogress = ({ loaded }) => onSent(loaded);
    request.onload = () => resolve(responseOf(request));
    request.onerror = fail;
    request.onabort = fail;
    request.onloadend = () => signal?.removeEventListener('abort', stop);
    signal?.addEventListener('abort', stop);
    request.send(body as XMLHttpRequestBodyInit);
    if (signal?.aborted) stop();
  });

function responseOf(request: XMLHttpRequest): Response {
  const { status, response } = request;
  const headers = new Headers();
  for (const line of request.getAllResponseHeaders().split('\r\n')) {
    const end = line.indexOf(': ');
    if (end > 0) headers.append(line.slice(0, end), line.slice(end + 2));
  }
  // A Response with status 204, for example, must have no body.
  return new Response(response?.byteLength > 0 ? response : null, { status, headers });
}
