// A run of random operations on two buckets and their reference model, shared by all operations of
// the models.

import { expect } from 'vitest';
import type { Call } from '../../src/domain/shared/caller.ts';
import type { RefusalCode } from '../../src/domain/shared/refusal.ts';
import { callOf, expectRefusal } from './domain-fixture.ts';
import type { ReferenceKey } from './model-link-reference.ts';
import type { Reference, ReferenceBucket, ReferenceConditions } from './model-reference.ts';
import type { UpgradableStores } from './model-stores.ts';

const folders = ['', 'a/', 'a/b/', 'é/', 'photos/2024/', 'photos/2025/'];

export interface Run {
  readonly model: UpgradableStores;
  readonly reference: Reference;
  readonly random: (limit: number) => number;
  /** How often each operation had each outcome. */
  readonly outcomes: Map<string, number>;
  /** Lists that are read page by page. */
  readonly walks: Walk[];
  /** The key that the operation uses; absent: the owner. */
  key: ReferenceKey | undefined;
}

export interface Walk {
  readonly bucket: ReferenceBucket;
  /**
   * Compares the next page of the service and of the model; returns the cursor of the following
   * page, if there is one.
   */
  next(run: Run, cursor: string | undefined, after: string | undefined): NextPage | undefined;
  readonly key: ReferenceKey | undefined;
  cursor: string | undefined;
  /** The last shown name. */
  after: string | undefined;
}

export interface NextPage {
  readonly cursor: string;
  readonly after: string;
}

export type Answer = string | undefined;

/** Returns the code of a refusal, or undefined. */
export type Operation = (run: Run) => Answer | Promise<Answer>;

export function oneOf<T>({ random }: Pick<Run, 'random'>, choices: readonly T[]): T {
  return choices[random(choices.length)] as T;
}

/** Returns a call by the owner, or, with a key, by a caller who has no other rights. */
export function callNow({ reference, key }: Run): Call {
  return callOf(key === undefined ? 'alice' : 'bob', reference.nowNs);
}

/** Expects the refusal that the reference model predicts; else makes the change. */
export function attempt(run: Run, code: RefusalCode | undefined, change: () => void): Answer {
  if (code === undefined) change();
  else expectRefusal(run.model.current(), code, change);
  return code;
}

/** Expects the operation to succeed without writes. */
export function withoutWrites<T>({ model }: Run, operation: () => T): T {
  const before = model.current().writeCount();
  const result = operation();
  expect(model.current().writeCount() - before, 'writes of an operation without changes').toBe(0);
  return result;
}

export function someBucket(run: Run): ReferenceBucket {
  return oneOf(run, run.random(3) > 0 ? run.reference.buckets.slice(0, 1) : run.reference.buckets);
}

export function somePath(run: Run, bucket: ReferenceBucket): string {
  const there = [...bucket.files.keys()];
  if (there.length > 0 && run.random(2) === 0) return oneOf(run, there);
  return `${oneOf(run, folders)}f${run.random(run.random(2) === 0 ? 5 : 200)}`;
}

export function someTags({ random }: Run): string[] {
  return ['red', 'blue', 'green'].filter((_, index) => random(3 + index) === 0);
}

/** Returns the metadata with which a file is stored. */
export function someMetadata(run: Run): [name: string, value: string][] {
  return run.random(3) > 0 ? [] : [['note', 'ü'.repeat(run.random(600))]];
}

export function someConditions(
  run: Run,
  bucket: ReferenceBucket,
  path: string,
): ReferenceConditions {
  const etag = bucket.files.get(path)?.etag ?? '"none"';
  const conditions = [{ ifMatch: etag }, { ifMatch: '*' }, { ifMatch: '"other"' }];
  const others = [{ ifNoneMatch: '*' }, { ifNoneMatch: etag }, { ifNoneMatch: '"other"' }];
  return run.random(5) < 3 ? {} : oneOf<ReferenceConditions>(run, [...conditions, ...others]);
}
