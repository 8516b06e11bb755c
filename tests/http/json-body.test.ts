// JSON bodies with deep nesting or long lists are refused before they are parsed.

import { beforeAll, describe, expect, test } from 'vitest';
import { Refusal } from '../../src/domain/shared/refusal.ts';
import { jsonBody, textListField, textPairsField } from '../../src/http/json-body.ts';
import { jsonBodyBytesMax, jsonContainerCountMax } from '../../src/limits.ts';
import { installNodeKernel } from '../support/kernel-host.ts';
import { installNodeText } from '../support/memory-stores.ts';

beforeAll(async () => {
  installNodeText();
  await installNodeKernel();
});

function parse(text: string): unknown {
  const body = new Uint8Array(Buffer.from(text));
  return jsonBody({ method: 'POST', url: '/', headers: [], body });
}

describe('jsonBody()', () => {
  test('ignores brackets inside strings', () => {
    const path = `${'[{'.repeat(200)}"\\`;
    expect(parse(JSON.stringify({ path, tags: [], headers: {} }))).toMatchObject({ path });
  });

  test.each([
    ['parses the maximum number of objects and lists', jsonContainerCountMax, true],
    ['refuses one more', jsonContainerCountMax + 1, false],
  ])('%s', (_, count, isTaken) => {
    const text = `{"a":${'['.repeat(count - 1)}${']'.repeat(count - 1)}}`;
    const read = () => parse(text);
    if (isTaken) expect(read()).toHaveProperty('a');
    else expect(read).toThrow(Refusal);
  });

  test.each([
    ['nothing but brackets', '['.repeat(jsonBodyBytesMax)],
    ['objects in objects', '{"a":'.repeat(2_000)],
    ['brackets in a string without an end', `{"a\\":"${'\\"'.repeat(200)}${'['.repeat(2_000)}`],
    ['a body above the limit', `{"a":"${'a'.repeat(jsonBodyBytesMax)}"}`],
  ])('refuses %s', (_, text) => {
    expect(() => parse(text)).toThrow(Refusal);
  });

  test('limits the length of lists', () => {
    const object = { many: Array(129).fill('a'), pairs: { ...Array(129).fill('a') }, few: ['a'] };
    expect(textListField(object, 'few')).toEqual(['a']);
    expect(() => textListField(object, 'many')).toThrow('at most 128 strings');
    expect(() => textPairsField(object, 'pairs')).toThrow('at most 128 strings');
  });
});
