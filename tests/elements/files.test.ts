// The rules by which the elements accept and show files.

import { expect, test } from 'vitest';
import { isAccepted } from '../../packages/elements/src/accepted-files.ts';
import { kindOf, nameOf, signOf } from '../../packages/elements/src/file-kinds.ts';
import { PartLength } from '../../packages/elements/src/part-length.ts';

test('isAccepted() compares extensions and types as a file input does', () => {
  const accepts = (accept: string, name: string, type = '') => isAccepted({ name, type }, accept);
  expect(accepts('', 'a.exe')).toBe(true);
  expect(accepts(' , ', 'a.exe')).toBe(true);
  expect(accepts('.pdf', 'A.PDF')).toBe(true);
  expect(accepts('.pdf', 'pdf')).toBe(false);
  expect(accepts('image/*', 'a', 'image/png')).toBe(true);
  expect(accepts('image/*', 'a', 'imagery/png')).toBe(false);
  expect(accepts('IMAGE/PNG, .txt', 'a', 'image/png')).toBe(true);
  expect(accepts('image/png', 'a.png', '')).toBe(false);
});

test('kindOf() shows no type that runs scripts', () => {
  const kinds = {
    picture: ['image/png', 'IMAGE/JPEG; q=1', 'image/webp'],
    video: ['video/mp4', 'video/x-matroska'],
    audio: ['audio/mpeg', 'audio/mp4; codecs="mp4a"'],
    text: ['text/plain; charset=utf-8', 'text/markdown', 'application/json'],
    other: [
      ...['text/html', 'image/svg+xml', 'application/xhtml+xml', 'application/pdf', 'text/xml'],
      ...['', 'image/', 'video/', 'image/png,text/html', 'text/plain,text/html', 'audio/a b'],
    ],
  } as const;
  for (const [kind, types] of Object.entries(kinds)) {
    for (const type of types) expect(kindOf(type), type).toBe(kind);
  }
});

test('nameOf() and signOf() return the last part of a path and its extension', () => {
  expect([nameOf('a/b.txt'), nameOf('b.txt'), nameOf('a/b/')]).toEqual(['b.txt', 'b.txt', 'b/']);
  expect([signOf('a.tar.gz'), signOf('README'), signOf('a.verylong')]).toEqual(['GZ', '•', '•']);
});

test('PartLength halves after a failure, and doubles after a part that took no time', () => {
  const length = new PartLength();
  expect(length.of(5_000_000)).toBe(1_900_000);
  length.failed();
  expect(length.of(5_000_000)).toBe(950_000);
  length.passed(30_000);
  expect(length.of(5_000_000)).toBe(950_000);
  length.passed(5_000);
  expect(length.of(5_000_000)).toBe(1_900_000);
  for (let turn = 0; turn < 20; turn++) length.failed();
  expect(length.of(5_000_000)).toBe(65_536);
  // A gateway joins at most 1,000 chunks
  expect(length.of(1_000_000_000)).toBe(1_000_000);
});
