// Reads the seeds of tests. Random tests run with the seeds that they name, so that a run can be
// repeated. EFS_SEED=n replaces them by that number, which repeats a failure: the seed is in the
// title of the failed test. EFS_SEED=random draws one. EFS_FRESH_SEED=n, which `.ci/run` draws, is
// added to the named ones by tests that take several.

import fc from 'fast-check';

const { EFS_SEED, EFS_FRESH_SEED } = process.env;
const seedLimit = 2 ** 31;
const asked = readSeed('EFS_SEED', EFS_SEED === 'random' ? drawSeed() : EFS_SEED);
const fresh = readSeed('EFS_FRESH_SEED', EFS_FRESH_SEED);

function drawSeed(): string {
  return `${Math.floor(Math.random() * seedLimit)}`;
}

function readSeed(name: string, text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const seed = Number(text);
  if (Number.isSafeInteger(seed) && seed >= 0) return seed;
  throw new Error(
    `${name} is "${text}": it must be a whole number, as in ${name}=7, or EFS_SEED=random.`,
  );
}

/** Returns the seed of a test that takes one. */
export function seedOr(named: number): number {
  return asked ?? named;
}

/**
 * Returns the seeds of a test that takes several: the named ones and the fresh one, or the
 * requested one.
 */
export function seedsOr(...named: readonly number[]): readonly number[] {
  if (asked !== undefined) return [asked];
  return fresh === undefined ? named : [...named, fresh];
}

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: seedOr(20261120) });
