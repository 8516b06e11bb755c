// The order of the test files: the longest first, so that none of them begins when all else is done.
// Vitest knows the durations of an earlier run, but a fresh checkout has none.

import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Those that take more than five seconds, the longest first. */
const longest = [
  'service/root-key',
  'client/lossy-network',
  'client/command',
  'client/storage',
  'service/rotation',
  'acceptance/chunked-upload',
  'service/durability',
  'domain/whole-model',
  'acceptance/files',
  'service/completion-cost',
  'service/crash',
  'service/start',
  'service/rotation-crash',
  'service/candid-fuzz',
  'service/encryption',
  'certification/canister-answers',
  'certification/costs',
  'replica/execution/azle-canister',
  'replica/agent/official-agents',
  'replica/persistence/crash',
].map((name) => `/tests/${name}.test.ts`);

function rank({ moduleId }: TestSpecification): number {
  const place = longest.findIndex((end) => moduleId.endsWith(end));
  return place < 0 ? longest.length : place;
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((one, other) => rank(one) - rank(other));
  }
}
