import { lookup, types } from 'mime-types';
import { describe, expect, test } from 'vitest';
import { mediaTypeTable } from '../../scripts/media-types.ts';
import table from '../../src/http/media-types.json';
import { mediaTypeOf } from '../../src/http/media-types.ts';

describe('mediaTypeOf()', () => {
  test('reads the generated table', () => {
    expect(table).toEqual(mediaTypeTable());
  });

  test('agrees with mime-types on every extension', () => {
    const extensions = Object.keys(types);
    expect(extensions.length).toBeGreaterThan(1_000);
    for (const extension of extensions) {
      expect(mediaTypeOf(`a/b.${extension}`)).toBe(lookup(extension));
    }
  });

  test.each([
    ['index.HTML', 'text/html'],
    ['a.tar.gz', 'application/gzip'],
    ['photos/a.b/c.jpeg', 'image/jpeg'],
    ['docs.pdf/readme', 'application/octet-stream'],
    ['readme', 'application/octet-stream'],
    ['html', 'application/octet-stream'],
    ['a.', 'application/octet-stream'],
    ['', 'application/octet-stream'],
    ['a.no such', 'application/octet-stream'],
    ['a.html text', 'application/octet-stream'],
    ['a.__proto__', 'application/octet-stream'],
    [`a.${'x'.repeat(1_000)}`, 'application/octet-stream'],
  ])('of %j is %s', (path, type) => {
    expect(mediaTypeOf(path)).toBe(type);
  });
});
