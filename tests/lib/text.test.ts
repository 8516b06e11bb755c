import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { decodeUtf8, encodeUtf8, hasControlCharacter } from '../../src/lib/text.ts';
import { installNodeText } from '../support/memory-stores.ts';

/** Includes lone surrogates. */
const codeUnit = fc.nat({ max: 0xffff }).map((code) => String.fromCharCode(code));
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decodeByNode(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

beforeAll(installNodeText);

describe('encodeUtf8()', () => {
  test('replaces a lone surrogate by U+FFFD', () => {
    expect(encodeUtf8('a\ud800b')).toEqual(new TextEncoder().encode('a\ufffdb'));
  });

  test('agrees with TextEncoder on every text', () => {
    fc.assert(
      fc.property(fc.string({ unit: codeUnit, maxLength: 200 }), (text) => {
        expect(encodeUtf8(text)).toEqual(new TextEncoder().encode(text));
      }),
    );
  });
});

describe('decodeUtf8()', () => {
  test('agrees with a strict TextDecoder on random bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), (bytes) => {
        expect(decodeUtf8(bytes)).toBe(decodeByNode(bytes));
      }),
      { numRuns: 2_000 },
    );
  });

  test('reads what encodeUtf8() wrote, at any length', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 20_000 });
    fc.assert(
      fc.property(text, (value) => {
        expect(decodeUtf8(encodeUtf8(value))).toBe(value);
      }),
      { numRuns: 30 },
    );
  });

  test.each([
    ['an overlong slash', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a number above U+10FFFF', [0xf4, 0x90, 0x80, 0x80]],
    ['a truncated sequence', [0x61, 0xe2, 0x82]],
    ['a lone continuation', [0x80]],
  ])('refuses %s', (_, bytes) => {
    expect(decodeUtf8(Uint8Array.from(bytes))).toBeUndefined();
  });

  test('keeps percent signs and a byte order mark', () => {
    for (const text of ['100 %41 %zz', '%E2%82%AC €', '\ufeffx']) {
      expect(decodeUtf8(encodeUtf8(text))).toBe(text);
    }
  });
});

test('hasControlCharacter() finds exactly U+0000-1F and U+007F-9F', () => {
  for (let code = 0; code < 0x300; code++) {
    const isControl = code < 0x20 || (code >= 0x7f && code < 0xa0);
    expect(hasControlCharacter(`a${String.fromCharCode(code)}b`), `code ${code}`).toBe(isControl);
  }
});
