// Parts of the command that need no service: its progress line, filters, names, sizes and times.

import { lstat, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { describe, expect, test } from 'vitest';
import { isFolderUrl, isOfSharedList } from '../../packages/client/src/links/folder-address.ts';
import { byteCount } from '../../packages/efs/src/config/flags.ts';
import { parseLocation } from '../../packages/efs/src/output/location.ts';
import { progressLine } from '../../packages/efs/src/output/progress-bar.ts';
import { formatTime } from '../../packages/efs/src/output/times.ts';
import { exclude, filterOf, include } from '../../packages/efs/src/transfers/filters.ts';
import { diskKeyOf, unsafeReason } from '../../packages/efs/src/transfers/safe-path.ts';

const half = { doneBytes: 30e6, totalBytes: 60e6, bytesPerSecond: 5e6, leftSeconds: 6 };

test.each([120, 100, 80, 60, 40, 20, 10, 1])('efs: a progress line fits %i columns', (columns) => {
  for (const name of ['a', 'x'.repeat(200), '写真'.repeat(40)]) {
    for (const state of [half, { ...half, totalBytes: undefined }, { ...half, totalBytes: 0 }]) {
      const line = progressLine({ ...state, name }, columns);
      // Characters above U+2FFF take two columns.
      const wide = [...line].filter((character) => character > '\u2fff').length;
      expect([...line].length + wide).toBeLessThan(columns);
    }
  }
});

test.each(['demo//', 'demo//photos', 'demo/a//b', 'demo/a//'])(
  'parseLocation() refuses %s, whose prefix no listed path would have',
  (text) => {
    expect(() => parseLocation(text)).toThrow('two slashes');
  },
);

test.each([
  'https://a.b/#link=folder&key=efs_secret',
  'http://localhost:4943/#key=efs_secret&bucket=demo',
  'HTTPS://a.b/x',
])('parseLocation() refuses the address %s without quoting it', (text) => {
  const refusal = (() => {
    try {
      return String(parseLocation(text));
    } catch (error) {
      return String(error);
    }
  })();
  expect(refusal).toContain('efs get -r ADDRESS DIR');
  expect(refusal).not.toMatch(/efs_|a\.b|localhost/);
});

test('isFolderUrl() knows an address wherever it is cut off, and none with an ordinary key', () => {
  const cut = 'https://a.b/#link=folder&key=efs_abc&bucket=';
  for (let end = cut.indexOf('folder') + 6; end < cut.length; end++) {
    expect(isFolderUrl(cut.slice(0, end)), cut.slice(0, end)).toBe(true);
  }
  expect(isFolderUrl('https://a.b/#key=efs_abc&bucket=demo')).toBe(false);
});

test('isOfSharedList() knows lists, and no other file in it', () => {
  const id = 'AAAA-AAA_AAAAAAA';
  const lists = [`.efs-shared/${id}.age`, `a/.efs-shared/${id}.age`];
  expect(lists.filter(isOfSharedList)).toEqual(lists);
  const others = ['.efs-shared/x.exe', `.efs-shared/${id}.age/x`, `.efs-shared/x/${id}.age`];
  expect([...others, `x.efs-shared/${id}.age`].filter(isOfSharedList)).toEqual([]);
});

test('parseLocation() accepts a bucket, a file and a folder', () => {
  expect(parseLocation('demo')).toEqual({ bucket: 'demo', path: '' });
  expect(parseLocation('demo/')).toEqual({ bucket: 'demo', path: '' });
  expect(parseLocation('demo/a/b')).toEqual({ bucket: 'demo', path: 'a/b' });
  expect(parseLocation('demo/a/')).toEqual({ bucket: 'demo', path: 'a/' });
});

test('efs: a progress line of 80 columns has name, bar, percentage, bytes, rate and time left', () => {
  const line = progressLine({ ...half, name: 'film.mp4' }, 80);
  expect(line).toMatch(
    /^film\.mp4 {2}\[#+-+\] {2}50 % {2}30\.0 MB of 60\.0 MB {2}5\.00 MB\/s {2}6 s left$/,
  );
});

/** Parses the line as commander does. */
function filterOfLine(...words: string[]) {
  const flags: { exclude?: []; include?: [] } = {};
  for (let index = 0; index < words.length; index += 2) {
    const option = words[index] === '--exclude' ? exclude() : include();
    const name = option.attributeName() as 'exclude' | 'include';
    flags[name] = option.parseArg?.(words[index + 1] ?? '', flags[name] as never) as never;
  }
  return (path: string) => filterOf(flags).isWanted(path);
}

describe('efs: --exclude and --include', () => {
  test('without them every file is included', () => {
    expect(filterOfLine()('a/b')).toBe(true);
  });

  test('local files are included whatever their names are', () => {
    const paths = ['.efs-shared/a.txt', '.efs-shared/AAAAAAAAAAAAAAAA.age'];
    expect(paths.filter(filterOfLine())).toEqual(paths);
  });

  test('a pattern without a slash matches at any depth; a matching folder counts as a whole', () => {
    const isWanted = filterOfLine('--exclude', 'node_modules', '--exclude', '*.tmp');
    const left = ['node_modules/a', 'x/node_modules/a/b', 'a.tmp', 'x/.tmp', 'x/y/b.tmp'];
    expect(left.filter(isWanted)).toEqual([]);
    expect(['a', 'x/a.tmpl', 'modules/a'].filter(isWanted)).toHaveLength(3);
  });

  test('the last matching pattern decides, whichever flag it has', () => {
    const pictures = filterOfLine('--exclude', '*', '--include', '*.jpg');
    expect([pictures('a.jpg'), pictures('x/b.jpg'), pictures('x/b.txt')]).toEqual([
      true,
      true,
      false,
    ]);
    expect(filterOfLine('--include', '*.jpg', '--exclude', '*')('a.jpg')).toBe(false);
  });

  test('a pattern with a slash matches a path from the folder, and ** crosses folders', () => {
    const isWanted = filterOfLine('--exclude', 'cache/**', '--include', 'cache/keep.txt');
    expect([isWanted('cache/a/b'), isWanted('cache/keep.txt'), isWanted('x/cache/a')]).toEqual([
      false,
      true,
      true,
    ]);
    expect(filterOfLine('--exclude', '/top')('x/top')).toBe(true);
    expect(filterOfLine('--exclude', '/top')('top')).toBe(false);
    expect(filterOfLine('--exclude', 'logs/')('logs')).toBe(true);
    expect(filterOfLine('--exclude', 'logs/')('x/logs/a')).toBe(false);
  });
});

describe('efs: names that a service returns', () => {
  test.each(['', 'a//b', '/etc/passwd', '../x', 'a/../../x', 'a/.', '..', 'a/', 'a\0b'])(
    '%j is refused as a file name',
    (path) => {
      expect(unsafeReason(path, 'linux')).toBeDefined();
    },
  );

  test.each(['CON', 'a/nul.txt', 'com1', 'C:x', 'a\\..\\b', 'a?', 'a.', 'a ', 'a\u0001'])(
    '%j is refused on Windows, and valid elsewhere',
    (path) => {
      expect(unsafeReason(path, 'win32')).toBeDefined();
      expect(unsafeReason(path, 'linux')).toBeUndefined();
    },
  );

  test('the name of a partial download is refused', () => {
    expect(unsafeReason('a/.efs-0123456789abcdef.part', 'linux')).toBeDefined();
  });

  /** Looks names up as a disk does that ignores what `key` removes. */
  function lookUpBy(key: (name: string) => string) {
    return async (path: string) => {
      const found = (await readdir(dirname(path))).find(
        (name) => key(name) === key(basename(path)),
      );
      return found === undefined ? undefined : lstat(join(dirname(path), found));
    };
  }

  test('diskKeyOf() finds out which names the disk of a folder takes for one file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'disk-key-'));
    try {
      const missing = join(folder, 'later/inner');
      const ofCase = await diskKeyOf(missing, {
        lookUp: lookUpBy((name) => name.toLowerCase()),
      });
      expect(ofCase('A/Ä.txt')).toBe(ofCase('a/ä.TXT'));
      expect(ofCase('ΟΔΟΣ')).toBe(ofCase('οδος'));
      expect(ofCase('sınır')).not.toBe(ofCase('sinir'));
      expect(ofCase('\u00e4')).not.toBe(ofCase('a\u0308'));
      const ofForm = await diskKeyOf(folder, { lookUp: lookUpBy((name) => name.normalize('NFC')) });
      expect(ofForm('\u00e4')).toBe(ofForm('a\u0308'));
      expect(ofForm('A')).not.toBe(ofForm('a'));
      const exact = await diskKeyOf(folder, { lookUp: lookUpBy((name) => name) });
      expect([exact('A'), exact('a\u0308')]).toEqual(['A', 'a\u0308']);
      expect(await readdir(folder)).toEqual([]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("diskKeyOf() in a dry run finds it out by the folder's own names, and writes nothing", async () => {
    const folder = await mkdtemp(join(tmpdir(), 'disk-key-'));
    const keyOf = (key: (name: string) => string) =>
      diskKeyOf(folder, { isDryRun: true, lookUp: lookUpBy(key) });
    try {
      for (const name of ['1', 'b', 'B', 'é.txt']) await writeFile(join(folder, name), '');
      await utimes(folder, 1, 1);
      const ofCase = await keyOf((name) => name.toLowerCase());
      expect([ofCase('A') === ofCase('a'), ofCase('\u00e4') === ofCase('a\u0308')]).toEqual([
        true,
        false,
      ]);
      const ofForm = await keyOf((name) => name.normalize('NFC'));
      expect([ofForm('A') === ofForm('a'), ofForm('\u00e4') === ofForm('a\u0308')]).toEqual([
        false,
        true,
      ]);
      expect((await stat(folder)).mtimeMs).toBe(1_000);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('diskKeyOf() joins names that may be one file if the folder cannot be written to', async () => {
    const keyOf = await diskKeyOf('/dev/null');
    expect(keyOf('A\u00e4')).toBe(keyOf('aa\u0308'));
  });
});

test('efs: sizes have decimal and binary units, and the word none means no limit', () => {
  const sizes = ['10MB', '1.5 GiB', '4096', '7b', '0', 'none', '2kB', '1KiB'].map(byteCount);
  expect(sizes).toEqual([10e6, 1.5 * 2 ** 30, 4096, 7, 0, 0, 2e3, 1024]);
  for (const wrong of ['', 'MB', '10XB', '-1', '1e3', '99999999TB']) {
    expect(() => byteCount(wrong)).toThrow(InvalidArgumentError);
  }
});

test('efs: times have their offset from UTC', () => {
  const { TZ } = process.env;
  process.env.TZ = 'Asia/Kolkata';
  expect(formatTime('2026-11-22T16:49:12.345Z')).toBe('2026-11-22 22:19:12 +05:30');
  process.env.TZ = 'America/New_York';
  expect(formatTime('2026-11-22T16:49:12Z')).toBe('2026-11-22 11:49:12 -05:00');
  if (TZ === undefined) delete process.env.TZ;
  else process.env.TZ = TZ;
});
