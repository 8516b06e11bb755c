// The fragment of a link's address holds the key that opens the file, and may hold its plain name.

import { expect, test } from 'vitest';
import { fileKeyAt, linkEnd, linkedName } from '../../packages/client/src/links/link-end.ts';

const at = (rest: string) => new URL(`https://files.example/s/abc/${rest}`);

test('linkEnd(): the fragment has the name and the key if names are sealed', () => {
  const name = 'Größe 100%.txt';
  const address = at(`c2VhbGVk?k=x#${linkEnd('AQID', name)}`);
  expect([fileKeyAt(address), linkedName(address)]).toEqual(['AQID', name]);
  const plain = at(`letter%20one.pdf?k=x#${linkEnd('AQID', undefined)}`);
  expect([fileKeyAt(plain), linkedName(plain)]).toEqual(['AQID', 'letter one.pdf']);
  expect(fileKeyAt(at('letter.pdf?k=x'))).toBe('');
});

test.each(['..', '.', '', '..%2F..%2Fprofile', 'a%00b', '%E0%A4', '%'])(
  'linkedName(): the unusable name %j in a fragment is ignored',
  (told) => {
    expect(linkedName(at(`letter.pdf?k=x#AQID/${told}`))).toBe('letter.pdf');
  },
);

test('linkedName() is "file" if the address has no name', () => {
  expect(linkedName(at('%?k=x'))).toBe('file');
  expect(linkedName(at('?k=x#AQID'))).toBe('file');
});
