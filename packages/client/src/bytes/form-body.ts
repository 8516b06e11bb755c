// Encodes files as one multipart/form-data body (RFC 7578).

import { concatBytes, encodeHex } from './bytes.ts';

export interface FormFile {
  /** The name of the form's field. */
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

const utf8 = new TextEncoder();
const boundaryBytes = 24;

/** The random boundary makes a collision with a file's contents practically impossible. */
export function formBody(files: readonly FormFile[]): {
  readonly contentType: string;
  readonly body: Uint8Array;
} {
  const boundary = encodeHex(crypto.getRandomValues(new Uint8Array(boundaryBytes)));
  const pieces = files.flatMap((file) => [
    utf8.encode(`--${boundary}\r\n${headOf(file)}\r\n`),
    file.bytes,
    utf8.encode('\r\n'),
  ]);
  const body = concatBytes(...pieces, utf8.encode(`--${boundary}--\r\n`));
  return { contentType: `multipart/form-data; boundary=${boundary}`, body };
}

function headOf({ name, headers }: FormFile): string {
  const disposition = `form-data; name="${name.replace(/["\\%]/g, '\\$&')}"`;
  return Object.entries({ 'Content-Disposition': disposition, ...headers })
    .map(([field, value]) => `${field}: ${value.replace(/[\r\n]/g, ' ')}\r\n`)
    .join('');
}
