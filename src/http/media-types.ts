// The media type of a file that was sent without one, from its path's extension.
// scripts/media-types.ts generates the table from the package mime-types.

import table from './media-types.json';

/** Returns `application/octet-stream` for an unknown extension (RFC 2046 §4.5.1). */
export function mediaTypeOf(path: string): string {
  const extension = /\.([^./]{1,64})$/.exec(path)?.[1]?.toLowerCase() ?? '';
  const { byExtension } = table;
  const start = byExtension.indexOf(`\n${extension} `);
  if (extension === '' || start === -1) {
    return 'application/octet-stream';
  }
  const end = byExtension.indexOf('\n', start + 1);
  return byExtension.slice(start + extension.length + 2, end);
}
