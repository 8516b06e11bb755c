import { beforeAll, describe, expect, test } from 'vitest';
import {
  parseBucketId,
  parseContentType,
  parseFilePath,
  parseKeyPrefix,
  parseNewPath,
  parseTags,
  quote,
} from '../../src/domain/shared/names.ts';
import { Refusal, type RefusalCode } from '../../src/domain/shared/refusal.ts';
import { installNodeText } from '../support/memory-stores.ts';

beforeAll(installNodeText);

function codeOf(operation: () => unknown): RefusalCode | undefined {
  try {
    operation();
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}

describe('parseBucketId()', () => {
  test.each([
    'a',
    'Z',
    '0',
    'Photos2026',
    'holiday-photos',
    'a--b',
    '2026-10-01',
    'x'.repeat(64),
    `a${'-'.repeat(62)}b`,
  ])('accepts %j', (text) => {
    expect(parseBucketId(text)).toBe(text);
  });

  test.each([
    '',
    'x'.repeat(65),
    '-',
    '-a',
    'a-',
    'a-_b',
    'a_b',
    'a.b',
    'a b',
    ' a',
    'a\n',
    'ä',
    'a/b',
    '٣',
    'a\0',
  ])('refuses %j', (text) => {
    expect(codeOf(() => parseBucketId(text))).toBe('InvalidBucketId');
  });
});

describe('parseFilePath()', () => {
  test.each([
    ['a', 'a'],
    ['/a', 'a'],
    ['/docs/report.pdf', 'docs/report.pdf'],
    ['docs/2026/report 1.pdf', 'docs/2026/report 1.pdf'],
    ['/...', '...'],
    ['/.hidden/..x', '.hidden/..x'],
    ['/<*>.txt/a<$>', '<*>.txt/a<$>'],
    ['/100%', '100%'],
    ['/a?b#c', 'a?b#c'],
    ['/写真/😀.png', '写真/😀.png'],
    [`/${'x'.repeat(1_024)}`, 'x'.repeat(1_024)],
    [`/${'é'.repeat(512)}`, 'é'.repeat(512)],
  ])('accepts %j', (text, path) => {
    expect(parseFilePath(text)).toBe(path);
  });

  test.each([
    ['empty', ''],
    ['a slash alone', '/'],
    ['two leading slashes', '//a'],
    ['an empty segment', '/a//b'],
    ['a trailing slash', '/a/'],
    ['"." first', '/./a'],
    ['"." last', '/a/.'],
    ['".."', '/../a'],
    ['".." inside', 'a/../b'],
    ['"<*>"', '/a/<*>/b'],
    ['"<$>"', '/<$>'],
    ['NUL', '/a\0b'],
    ['a line feed', '/a\nb'],
    ['DEL', '/a\u007f'],
    ['a C1 control', '/a\u0085'],
    ['a lone surrogate', '/a\ud800'],
    ['1,025 bytes', 'x'.repeat(1_025)],
    ['1,025 bytes in 513 characters', `${'é'.repeat(512)}x`],
  ])('refuses a path that is or has %s', (_, text) => {
    expect(codeOf(() => parseFilePath(text))).toBe('InvalidPath');
  });
});

describe('parseNewPath()', () => {
  test.each([
    ['a right-to-left override', '/gnp.\u202eexe'],
    ['a first strong isolate', '/a\u2068b'],
    ['a left-to-right embedding', '/\u202aa'],
    ['a pop of isolates', '/a\u2069'],
  ])('refuses a path with %s, which existing files of 0.1.0 may have', (_, text) => {
    expect(codeOf(() => parseNewPath(text))).toBe('InvalidPath');
    expect(parseFilePath(text)).toBe(text.slice(1));
    expect(codeOf(() => parseKeyPrefix(text))).toBe('InvalidPath');
  });

  test('refuses what parseFilePath() refuses', () => {
    expect(codeOf(() => parseNewPath('/a//b'))).toBe('InvalidPath');
    expect(parseNewPath('/a/b')).toBe('a/b');
  });
});

describe('parseContentType()', () => {
  test.each([
    'text/plain',
    'text/plain; charset=utf-8',
    'TEXT/HTML;charset=UTF-8',
    'application/vnd.api+json',
    'multipart/form-data; boundary="a b;c"',
    'text/plain;charset="ut\\"f"',
    'text/plain ; a=b ; c=d',
    'text/plain;',
    'text/plain; ; a=b; ',
    'x-a/~!#$%&*^`|.',
    `a/${'b'.repeat(253)}`,
  ])('keeps %j literally', (text) => {
    expect(parseContentType(text)).toBe(text);
  });

  test.each(['', ' ', '\t'])('treats %j as absent', (text) => {
    expect(codeOf(() => parseContentType(text))).toBe('MissingContentType');
  });

  test.each([
    'text',
    'text/',
    '/plain',
    'text/plain, text/html',
    'text /plain',
    'text/plain x',
    'text/plain; charset',
    'text/plain; charset=',
    'text/plain; charset="utf',
    'text/plain; charset= utf-8',
    'text/plain\r\nSet-Cookie: a=b',
    'text/plain\n',
    'text/pläin',
    'text/plain; a="\u0001"',
    `a/${'b'.repeat(254)}`,
  ])('refuses %j', (text) => {
    expect(codeOf(() => parseContentType(text))).toBe('InvalidContentType');
  });

  // An exponential algorithm would not finish this.
  test('refuses texts that could be parsed in several ways', () => {
    for (const gap of [' ', '  ', '\t \t']) {
      const text = `a/b${`;${gap}`.repeat(250 / (gap.length + 1))}`.slice(0, 254);
      expect(codeOf(() => parseContentType(`${text}\u0001`))).toBe('InvalidContentType');
    }
  });
});

describe('parseTags()', () => {
  test('trims, drops empty and repeated tags, and keeps the order', () => {
    expect(parseTags([' b ', 'a', '', ' ', 'b', 'A'])).toEqual(['b', 'a', 'A']);
    expect(parseTags([])).toEqual([]);
  });

  test('counts the limit of 20 tags after dropping', () => {
    const tags = Array.from({ length: 20 }, (_, index) => `t${index}`);
    expect(parseTags([...tags, 't0', ''])).toEqual(tags);
    expect(codeOf(() => parseTags([...tags, 'more']))).toBe('InvalidArgument');
  });

  test.each(['x'.repeat(64), 'größe', 'a b'])('accepts %j', (tag) => {
    expect(parseTags([tag])).toEqual([tag]);
  });

  test.each(['x'.repeat(65), 'a\0b', 'a\u009fb', 'a,b', '\udc00'])('refuses %j', (tag) => {
    expect(codeOf(() => parseTags([tag]))).toBe('InvalidArgument');
  });
});

describe('quote()', () => {
  test('shortens, escapes and stays well-formed', () => {
    expect(quote('a\n"')).toBe('"a\\n\\""');
    expect(quote('x '.repeat(41))).toBe(`"${'x '.repeat(40)}…"`);
    expect(quote(`${'x '.repeat(39)}x😀`).isWellFormed()).toBe(true);
  });

  test('never shows an API key or a part of one', () => {
    const secret = `efs_${'aB3-_'.repeat(10).slice(0, 49)}`;
    // A malformed percent-encoding before a key can consume its first characters.
    const cut = decodeURIComponent(`%c2%8${secret}`);
    for (const text of [secret, `x${secret}y`, `/${'p'.repeat(60)}/${secret}`, cut]) {
      expect(quote(text)).not.toContain('aB3-_aB3');
    }
  });
});
