// Header fields of the pages that the build adds.

import { expect, test } from 'vitest';
import { consoleText, openApiText } from '../../src/http/console.ts';

test.each([
  ['the console', consoleText],
  ['the description', openApiText],
])('consoleText(), openApiText(): %s names the encoding of compressed pages only', (_, textOf) => {
  const digest = new Uint8Array(32);
  const page = { address: '/x', contentType: 'a/b', offset: 0, size: 9, sha256: '', digest };
  const encodings = [true, false].map((isCompressed) => {
    const { representation } = textOf({ ...page, isCompressed });
    return representation.filter(([name]) => name === 'Content-Encoding');
  });
  expect(encodings).toEqual([[['Content-Encoding', 'gzip']], []]);
});
