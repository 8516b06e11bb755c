// Whether the environment names a service or a network that runs elsewhere (service.ts), and the
// tests that then make no sense.

import { expect, type TestContext } from 'vitest';

const { EFS_URL, EFS_JUDGE_HOST, EFS_JUDGE_SERVER } = process.env;

/** Whether test files create canisters on a network elsewhere. */
export const isJudged = EFS_JUDGE_HOST !== undefined || EFS_JUDGE_SERVER !== undefined;
export const isElsewhere = isJudged || EFS_URL !== undefined;

/** Whether a server gives each test file a network of its own, whose clock it sets. */
export const canSetTime = !isElsewhere || EFS_JUDGE_SERVER !== undefined;

/**
 * Returns a hook for `beforeEach`, also for the beginning of a test, that skips the test elsewhere.
 * `subject`: the part of our own replica that the test is about.
 */
export function onlyOnOurReplica(subject: string) {
  return ({ skip }: Pick<TestContext, 'skip'>): void =>
    skip(isElsewhere, `needs our replica in this process: ${subject}`);
}

/**
 * Returns a number of messages that our own replica has reported. Elsewhere nothing reports them: the
 * result equals any number, in `toEqual`.
 */
export function reported(count: number): number {
  return isElsewhere ? (expect.anything() as number) : count;
}
