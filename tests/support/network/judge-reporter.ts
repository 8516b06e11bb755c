// Prints how the judged tests ended, by file: passed, failed and skipped with the reasons, and then
// the names of the tests that failed.

import type { Reporter, TestCase, TestModule } from 'vitest/node';

interface Count {
  readonly path: string;
  readonly passed: number;
  readonly failed: readonly string[];
  /** Number of skipped tests by reason. */
  readonly skipped: ReadonlyMap<string, number>;
}

/** Neither `skipIf` nor a failed `beforeAll` leaves a note. */
const notRun = 'not run: left out by its file, or the file failed before';

function countOf(module: TestModule): Count {
  const tests = [...module.children.allTests()];
  const failed = tests.flatMap(failureOf);
  const skipped = new Map<string, number>();
  for (const one of tests) {
    const result = one.result();
    if (result.state === 'passed' || result.state === 'failed') continue;
    const reason = (result.state === 'skipped' ? result.note : undefined) ?? notRun;
    skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
  }
  const errors = [...module.children.allSuites()].flatMap((suite) => suite.errors());
  for (const { message } of [...module.errors(), ...errors])
    failed.push(`before tests: ${message}`);
  const passed = tests.filter((one) => one.result().state === 'passed').length;
  return { path: module.relativeModuleId, passed, failed, skipped };
}

/** Returns the name and the first line of the error of a test that failed. */
function failureOf(test: TestCase): string[] {
  const result = test.result();
  if (result.state !== 'failed') return [];
  const [line] = (result.errors[0]?.message ?? '').split('\n');
  return [`${test.fullName}\n    ${line}`];
}

export class JudgeReporter implements Reporter {
  onTestModuleEnd(module: TestModule): void {
    const { path, passed, failed, skipped } = countOf(module);
    console.log(`${path}: ${passed} passed, ${failed.length} failed${inWords(skipped)}`);
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = modules.map(countOf);
    const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
    const failures = counts.flatMap(({ path, failed }) => failed.map((name) => `${path}: ${name}`));
    const skipped = new Map<string, number>();
    for (const [reason, count] of counts.flatMap((one) => [...one.skipped])) {
      skipped.set(reason, (skipped.get(reason) ?? 0) + count);
    }
    const passed = sum(counts.map((one) => one.passed));
    console.log(`\n${counts.length} files: ${passed} tests passed, ${failures.length} failed,`);
    console.log(`${sum([...skipped.values()])} were skipped${inWords(skipped)}`);
    if (failures.length > 0) console.log(`\nFailed:\n${failures.join('\n')}`);
  }
}

function inWords(skipped: ReadonlyMap<string, number>): string {
  return [...skipped].map(([reason, count]) => `\n  ${count} skipped: ${reason}`).join('');
}
