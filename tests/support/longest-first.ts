// The order of the test files: the longest first, so that none of them begins when all else is done.
// Vitest knows the durations of an earlier run, but a fresh checkout has none.

import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Those that take more than five seconds, the longest first. */
const longest = [
  'documents/pages',
  'packages/packages',
  'console/uploads',
  'console/files',
  'console/views',
  'client/copies',
  'service/kills',
  'service/root-key',
  'service/upgrade-from-release',
  'client/many-files',
  'client/identity-command',
  'service/refusal-costs',
  'client/lossy-network',
  'service/many-parts',
  'acceptance/hidden-bucket',
  'service/upgrade-under-calls',
  'certification/bucket-site-model',
  'replica/persistence/damage',
  'service/start-again',
  'service/site-after-upgrade',
  'service/rotation-crash',
  'service/rotation',
  'service/quota-overhead',
  'domain/whole-model',
  'service/start',
  'kernel/outgoing-calls',
  'acceptance/chunked-upload',
  'actor/argument-decoder',
  'client/parts-and-metadata',
  'acceptance/files',
  'service/random-source',
  'client/storage',
  'console/safety',
  'console/sharing',
  'console/sign-in',
  'acceptance/hidden-labels',
  'service/durability',
  'client/resumable-download',
  'service/crash',
  'client/get-target',
  'client/command',
  'acceptance/http-upload',
  'service/completion-cost',
  'acceptance/listing',
  'acceptance/upload-rights',
  'storage/label-tree-model',
  'domain/encryption-model',
  'client/resume',
  'replica/gateway/streaming',
  'service/candid-fuzz',
  'service/encryption',
  'certification/canister-answers',
  'certification/costs',
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
