// XML of requests: small, without declared entities.

import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { S3Error } from '../s3-error.ts';

/** An element's text, or its child elements as lists by name. */
export type ReadElement = string | { readonly [name: string]: readonly ReadElement[] };

/** Deeper than any request of S3. */
const depthMax = 16;

const parser = new XMLParser({
  parseTagValue: false,
  trimValues: false,
  ignoreAttributes: true,
  removeNSPrefix: true,
  // Decodes numeric characters, as Go writes quotes.
  htmlEntities: true,
  maxNestedTags: depthMax,
  isArray: (_name, path) => String(path).includes('.'),
});

/** More than any request of S3 that has no list. */
const tagsMaxUsual = 2_000;

/** Returns the elements within the root. `tagsMax` limits the parser's time: 4 µs per tag. */
export function readXml(bytes: Uint8Array, root: string, tagsMax = tagsMaxUsual): ReadElement {
  if (hasMoreTags(bytes, tagsMax)) {
    throw new S3Error('MalformedXML', `<${root}> has more than ${tagsMax} tags.`);
  }
  const text = decode(bytes);
  // A document type could declare entities that expand without limit.
  if (/<!(?!--)/.test(text) || !hasOnlyCharacters(text)) throw malformed(root);
  if (XMLValidator.validate(text) !== true) throw malformed(root);
  let found: unknown;
  try {
    found = parser.parse(text)[root];
  } catch {
    // The parser rejects elements that are nested too deeply or named like a property of every
    // object.
    throw malformed(root);
  }
  if (found === undefined) throw malformed(root);
  return found as ReadElement;
}

function hasMoreTags(bytes: Uint8Array, tagsMax: number): boolean {
  let count = 0;
  for (let at = bytes.indexOf(0x3c); at >= 0; at = bytes.indexOf(0x3c, at + 1)) {
    count += 1;
    if (count > tagsMax) return true;
  }
  return false;
}

/** Returns whether each character, also each numeric one, is allowed in XML 1.0 (§2.2). */
function hasOnlyCharacters(text: string): boolean {
  if (noCharacter.test(text)) return false;
  for (const [, hexadecimal, decimal] of text.matchAll(/&#(?:x([0-9a-fA-F]+)|([0-9]+));/g)) {
    const code = hexadecimal === undefined ? Number(decimal) : Number.parseInt(hexadecimal, 16);
    if (code > 0x10_ff_ff || noCharacter.test(String.fromCodePoint(code))) return false;
  }
  return true;
}

const noCharacter = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u;

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new S3Error('MalformedXML', 'The body is not XML in UTF-8.');
  }
}

function malformed(root: string): S3Error {
  return new S3Error('MalformedXML', `The body is not an XML document <${root}>.`);
}

/** Returns the child elements with that name, or an empty list. */
export function elementsOf(element: ReadElement | undefined, name: string): readonly ReadElement[] {
  return typeof element === 'object' && Object.hasOwn(element, name) ? (element[name] ?? []) : [];
}

/** Refuses an element with a child of another name: to ignore a setting could do harm. */
export function requireKnown(
  element: ReadElement | undefined,
  name: string,
  known: readonly string[],
): void {
  if (typeof element !== 'object') return;
  const unknown = Object.keys(element).find((child) => {
    return child !== '#text' && !known.includes(child);
  });
  if (unknown === undefined) return;
  const shown = unknown.slice(0, 80);
  throw new S3Error('NotImplemented', `<${shown}> in <${name}> is not supported.`);
}

/** Returns the text of the first child with that name; undefined without one. */
export function textOf(element: ReadElement | undefined, name: string): string | undefined {
  const [first] = elementsOf(element, name);
  return typeof first === 'string' ? first : undefined;
}
