// Candid's own tests, read from a copy whose SHA-256 tests/vectors/candid-tests.json pins. The copy
// is in the folder that EFS_CANDID_TESTS names; the repository has only the pins.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { IDL } from '@dfinity/candid';
import { beforeAll, describe, expect, test } from 'vitest';
import { CandidFault } from '../../src/actor/candid/reader.ts';
import { encodeResult, resultOf } from '../../src/actor/candid/result.ts';
import { decodeWithin, type Plan, planOf } from '../../src/actor/messages/argument-decoder.ts';
import { type CandidTest, readCandidTests } from '../support/candid-tests.ts';
import { installNodeText } from '../support/memory-stores.ts';
import { readVectors } from '../support/vectors.ts';

const folder = process.env.EFS_CANDID_TESTS;
const { sha256, source } = readVectors<{
  readonly source: string;
  readonly sha256: Readonly<Record<string, string>>;
}>('candid-tests.json');
const bounds = { bytes: 100_000, textBytes: 16_384, values: 10_000 };

/**
 * Deliberate deviations by reason, with the descriptions of the tests that they concern.
 * docs/reference/limits.md, "Arguments in Candid", tells callers about them.
 */
const deviations: Readonly<Record<string, readonly string[]>> = {
  'an option whose value has another type is refused; Candid reads it as absent': [
    'opt true : opt bool <: opt nat',
    'opt opt true : opt opt bool <: opt nat',
    'opt opt true : opt opt bool <: opt opt nat',
    'opt: recovered coercion error under variant',
    'parsing optional reserved element as optional null element',
  ],
  'a message whose type table has a function, a service or a future type is refused': [
    'service {} value decodes at principal',
    'service {foo} value decodes at principal',
    'recursive service value decodes at principal',
  ],
  'a message has at most eight arguments more than the method': ['multiple arguments'],
};
const references = 'has functions, services or unknown types, which no method accepts';
const deviating = new Set(Object.values(deviations).flat());

beforeAll(installNodeText);

/** Returns the tests of a file; throws if its bytes are not the pinned ones. */
function testsOf(name: string): CandidTest[] {
  const bytes = readFileSync(join(folder ?? '', `${name}.test.did`));
  expect(createHash('sha256').update(bytes).digest('hex'), `${name}.test.did of ${source}`).toBe(
    sha256[name],
  );
  return readCandidTests(bytes.toString());
}

/** Returns the plans of the types; undefined if no method takes one of them. */
function plansOf(types: readonly IDL.Type[]) {
  try {
    return types.map(planOf);
  } catch {
    return undefined;
  }
}

/** Returns the values, or the words of the refusal. */
function decoded(plans: readonly Plan[], input: Uint8Array): unknown[] | string {
  try {
    return decodeWithin(plans, input, bounds);
  } catch (error) {
    if (error instanceof CandidFault) return error.message;
    throw error;
  }
}

/** Compares the verdict of a test with ours; undefined means that they agree. */
function difference(plans: readonly Plan[], one: CandidTest): string | undefined {
  const { description, input, other, isAccepted } = one;
  const values = decoded(plans, input);
  const isExpected = isAccepted && !deviating.has(description);
  if (Array.isArray(values) !== isExpected) return `${description}: ${values}`;
  if (other === undefined || !isExpected) return undefined;
  const isEqual = isDeepStrictEqual(values, decoded(plans, other.input));
  return isEqual === other.isEqual ? undefined : `${description}: equal is ${isEqual}`;
}

/** A message with a type that no method takes can still be skipped as an additional argument. */
function skippingFault({ description, input, isAccepted }: CandidTest): string | undefined {
  if (!isAccepted || deviating.has(description)) return undefined;
  const skipped = decoded([], input);
  const isFault = typeof skipped === 'string' && skipped !== references;
  return isFault ? `${description}: ${skipped}` : undefined;
}

/** Encodes the value as a result, which the official library must read as the same value. */
function encodingFault(plans: readonly Plan[], one: CandidTest): string | undefined {
  const [type, ...others] = one.types;
  const values = decoded(plans, one.input);
  if (type === undefined || others.length > 0 || !Array.isArray(values)) return undefined;
  const result = resultOf(type);
  const [read] = IDL.decode([result], encodeResult(result, { ok: values[0] }));
  return isDeepStrictEqual(read, { ok: values[0] }) ? undefined : one.description;
}

describe.skipIf(folder === undefined)('decodeWithin() with the tests of Candid', () => {
  test.each(Object.keys(sha256))('gives the verdicts of %s.test.did', (file) => {
    const tests = testsOf(file);
    const faults: string[] = [];
    const counts = { judged: 0, skipped: 0 };
    for (const one of tests) {
      const plans = plansOf(one.types);
      const fault = plans === undefined ? skippingFault(one) : difference(plans, one);
      counts[plans === undefined ? 'skipped' : 'judged'] += 1;
      faults.push(...[fault ?? []].flat());
    }
    const { judged, skipped } = counts;
    console.log(
      `${file}: ${judged} tests judged, ${skipped} of types that no method takes skipped`,
    );
    expect(faults).toEqual([]);
  });

  test('deviates from no other test than those listed', () => {
    const found = Object.keys(sha256).flatMap((file) =>
      testsOf(file).map((one) => one.description),
    );
    expect([...deviating].filter((description) => !found.includes(description))).toEqual([]);
  });

  test('encodeResult() encodes the decoded values as the official library reads them', () => {
    let encoded = 0;
    for (const one of Object.keys(sha256).flatMap(testsOf)) {
      const plans = plansOf(one.types);
      if (plans === undefined || !one.isAccepted || deviating.has(one.description)) continue;
      expect(encodingFault(plans, one)).toBeUndefined();
      encoded += 1;
    }
    console.log(`${encoded} values encoded`);
    expect(encoded).toBeGreaterThan(50);
  });
});
