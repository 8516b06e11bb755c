// S3's answers as XML.

import { XMLBuilder } from 'fast-xml-parser';

export type Element = string | number | boolean | undefined | readonly Element[] | Elements;

/** Values by element name, in order. Undefined is omitted; each item of a list is an element. */
export interface Elements {
  readonly [name: string]: Element;
}

const namespace = 'http://s3.amazonaws.com/doc/2006-03-01/';

const builder = new XMLBuilder({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  processEntities: false,
  tagValueProcessor: (_name, value) => escapeText(String(value)),
});

/** Returns the document with the root; an error document has no namespace. */
export function writeXml(root: string, content: Elements): string {
  const declaration = { '@version': '1.0', '@encoding': 'UTF-8' };
  const qualified = root === 'Error' ? content : { '@xmlns': namespace, ...content };
  return builder.build({ '?xml': declaration, [root]: qualified });
}

/** U+FFFE and U+FFFF are not characters of XML 1.0 (§2.2); encoding-type=url encodes them. */
function escapeText(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\r', '&#13;')
    .replace(/[\ufffe\uffff]/g, '\ufffd');
}
