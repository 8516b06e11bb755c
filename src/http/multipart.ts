// The parts of a form with files, multipart/form-data (RFC 7578 based on RFC 2046 §5.1). Delimiters
// are found natively; JavaScript reads the small head of each part.

import { batchFileCountMax } from '../../packages/wire/src/limits.ts';
import { findAll } from '../crypto/byte-search.ts';
import { quote } from '../domain/shared/names.ts';
import { Refusal } from '../domain/shared/refusal.ts';
import { bytesEqual } from '../lib/bytes.ts';
import { decodeUtf8, encodeUtf8 } from '../lib/text.ts';
import { partFieldCountMax, partHeadBytesMax } from '../limits.ts';
import { type HttpRequest, singleHeader } from './message.ts';

export interface Part {
  /** The name of the field in the form. */
  readonly name: string;
  /** The name of the file on the sender's machine; undefined for fields that are not files. */
  readonly fileName: string | undefined;
  /** Values by lower-case name, without Content-Disposition. */
  readonly fields: Readonly<Record<string, string>>;
  /** A view into the body. */
  readonly bytes: Uint8Array;
}

const lineEnd = '\r\n';
const lineEndBytes = 2;
const headEnd = Uint8Array.of(0x0d, 0x0a, 0x0d, 0x0a);
const hyphen = 0x2d;

/** Refuses another Content-Type with InvalidContentType, a malformed form with InvalidArgument. */
export function readParts(request: HttpRequest): Part[] {
  const { body } = request;
  const delimiter = encodeUtf8(`${lineEnd}--${boundaryOf(request)}`);
  const ends = delimiterEnds(body, delimiter);
  const parts: Part[] = [];
  for (let index = 0; index < ends.length; index++) {
    const start = ends[index] ?? 0;
    if (body[start] === hyphen && body[start + 1] === hyphen) return parts;
    const next = ends[index + 1];
    if (parts.length === batchFileCountMax || next === undefined) break;
    parts.push(readPart(body.subarray(start, next - delimiter.length), parts.length));
  }
  throw malformed(
    parts.length === batchFileCountMax
      ? `has more than ${batchFileCountMax} parts`
      : 'does not end with its boundary and two hyphens',
  );
}

function malformed(fault: string): Refusal {
  return new Refusal('InvalidArgument', `The form ${fault}: send multipart/form-data (RFC 7578).`);
}

/** RFC 2046 §5.1.1: 1 to 70 characters, the last one not a space. */
const boundaryPattern = /^[A-Za-z0-9'()+_,./:=? -]{0,69}[A-Za-z0-9'()+_,./:=?-]$/;
const boundaryParameter = 'boundary=';

/** Splits the field at each semicolon, which no boundary contains. */
function boundaryOf(request: HttpRequest): string {
  const sent = singleHeader(request, 'content-type') ?? '';
  const [type = '', ...parameters] = sent.split(';').map((piece) => piece.trim());
  const parameter = parameters.find((one) => one.toLowerCase().startsWith(boundaryParameter)) ?? '';
  const value = parameter.slice(boundaryParameter.length);
  const isQuoted = value.length > 2 && value.startsWith('"') && value.endsWith('"');
  const boundary = isQuoted ? value.slice(1, -1) : value;
  if (type.toLowerCase() !== 'multipart/form-data' || !boundaryPattern.test(boundary)) {
    throw new Refusal(
      'InvalidContentType',
      `The Content-Type must be multipart/form-data with a boundary of 1 to 70 characters; got ` +
        `${quote(sent)}.`,
    );
  }
  return boundary;
}

/** Returns the end of each delimiter, up to one part more than allowed. */
function delimiterEnds(body: Uint8Array, delimiter: Uint8Array): number[] {
  const limit = batchFileCountMax + 2;
  const places = findAll(body, delimiter, limit);
  if (places === undefined) {
    throw malformed('has too many near-matches of its boundary; choose another boundary');
  }
  const found = Array.from(places, (start) => start + delimiter.length);
  // The first delimiter needs no line break before it.
  const firstEnd = delimiter.length - lineEndBytes;
  const isFirst = bytesEqual(body.subarray(0, firstEnd), delimiter.subarray(lineEndBytes));
  return isFirst ? [firstEnd, ...found] : found;
}

/** Reads a part. `bytes`: from the preceding delimiter to the following one. */
function readPart(bytes: Uint8Array, index: number): Part {
  const [end] = findAll(bytes.subarray(0, partHeadBytesMax), headEnd, 1) ?? [];
  const head = end === undefined ? undefined : decodeUtf8(bytes.subarray(0, end));
  // The rest of the delimiter's line precedes the fields.
  const [rest, ...lines] = head?.split(lineEnd) ?? [];
  if (end === undefined || rest?.trim() !== '' || lines.length > partFieldCountMax) {
    throw malformed(
      `has an invalid part ${index}, which needs 1 to ${partFieldCountMax} header fields of ` +
        `at most ${partHeadBytesMax} bytes of UTF-8 and then an empty line`,
    );
  }
  // Content-Disposition names the part and is not stored.
  const { 'content-disposition': disposition = '', ...fields } = readFields(lines, index);
  const { name, filename: fileName } = readDisposition(disposition);
  if (name === undefined) {
    throw malformed(
      `has no path in part ${index}: its Content-Disposition must be form-data; name="the path"`,
    );
  }
  requireIdentity(fields, index);
  return { name, fileName, fields, bytes: bytes.subarray(end + headEnd.length) };
}

function readFields(lines: readonly string[], index: number): Record<string, string> {
  const fields: Record<string, string> = Object.create(null);
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    if (name.trim() !== name || name === '' || name in fields) {
      throw malformed(`has a header field in part ${index} that is malformed or occurs twice`);
    }
    fields[name] = line.slice(colon + 1).trim();
  }
  return fields;
}

/** Refuses encoded content, which would be stored encoded; RFC 7578 §4.7 deprecates the field. */
function requireIdentity(fields: Part['fields'], index: number): void {
  const encoding = fields['content-transfer-encoding']?.toLowerCase() ?? 'binary';
  if (!['binary', '8bit', '7bit'].includes(encoding)) {
    throw malformed(`has a Content-Transfer-Encoding in part ${index}, which is not supported`);
  }
}

const dispositionType = /form-data(?=[ \t]*;)/iy;
const parameterPattern = /[ \t]*;[ \t]*([a-z0-9*_-]+)=(?:"([^"\\]*(?:\\.[^"\\]*)*)"|([^\s";]+))/iy;
const parameterCountMax = 8;

/** Returns two parameters of a Content-Disposition; of each, the first one counts. */
function readDisposition(disposition: string): { name?: string; filename?: string } {
  const found: { name?: string; filename?: string } = {};
  dispositionType.lastIndex = 0;
  if (!dispositionType.test(disposition)) return found;
  parameterPattern.lastIndex = dispositionType.lastIndex;
  for (let count = 0; count < parameterCountMax; count++) {
    const [, sent = '', quoted, token = ''] = parameterPattern.exec(disposition) ?? [];
    if (sent === '') return found;
    const name = sent.toLowerCase();
    if (name !== 'name' && name !== 'filename') continue;
    found[name] ??= quoted === undefined ? token : unquoted(quoted);
  }
  return found;
}

/**
 * Some senders escape a quote with a backslash, others (WHATWG HTML, "Multipart form data") write
 * %22; a percent sign after a backslash is literal.
 */
function unquoted(text: string): string {
  if (!text.includes('\\') && !text.includes('%22')) return text;
  return text.replace(/\\(["\\%])|%22/g, (_, escaped: string | undefined) => escaped ?? '"');
}
