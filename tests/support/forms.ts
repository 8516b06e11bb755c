// Forms with files, multipart/form-data (RFC 7578), as browsers and curl send them.

export interface FormPart {
  readonly name: string;
  readonly text: string | Uint8Array;
  readonly filename?: string;
  readonly type?: string;
  readonly fields?: Readonly<Record<string, string>>;
}

export function formBody(parts: readonly FormPart[], boundary: string): Uint8Array {
  const pieces = parts.flatMap((part) => [
    `--${boundary}\r\n${headOf(part)}\r\n`,
    part.text,
    '\r\n',
  ]);
  const all = [...pieces, `--${boundary}--\r\n`];
  return new Uint8Array(Buffer.concat(all.map((piece) => Buffer.from(piece as string))));
}

function headOf({ name, filename, type, fields = {} }: FormPart): string {
  const file = filename === undefined ? '' : `; filename="${escapeQuoted(filename)}"`;
  const disposition = `form-data; name="${escapeQuoted(name)}"${file}`;
  const all = {
    'Content-Disposition': disposition,
    ...(type && { 'Content-Type': type }),
    ...fields,
  };
  return Object.entries(all)
    .map(([field, value]) => `${field}: ${value}\r\n`)
    .join('');
}

function escapeQuoted(text: string): string {
  return text.replace(/["\\%]/g, '\\$&');
}
