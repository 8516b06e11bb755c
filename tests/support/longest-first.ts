// Runs the longest test files first: a long file that starts last leaves the other worker idle.
//
// Vitest remembers the durations of its last run, but a fresh checkout has none, so the durations
// are committed. `EFS_DURATIONS=1 npm test` records them again.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BaseSequencer, type Reporter, type TestModule, type TestSpecification } from 'vitest/node';
import { projectDir } from '../tidy/source-tree.ts';

const recordPath = join(projectDir, 'tests/support/durations.json');
/** Shorter files fill the gaps in any order. */
const recordedSecondsMin = 3;

/** Seconds by name: `folder/file` without `.test.ts`. */
type Durations = Readonly<Record<string, number>>;

function nameOf(moduleId: string): string {
  return /\/tests\/(.*)\.test\.ts$/.exec(moduleId)?.[1] ?? moduleId;
}

export class LongestFirst extends BaseSequencer {
  readonly #durations: Durations = JSON.parse(readFileSync(recordPath, 'utf8'));

  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((one, other) => this.#secondsOf(other) - this.#secondsOf(one));
  }

  #secondsOf({ moduleId }: TestSpecification): number {
    return this.#durations[nameOf(moduleId)] ?? 0;
  }
}

/** Replaces the recorded durations of the files that have just run, and forgets removed files. */
export class DurationRecorder implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const former: Durations = JSON.parse(readFileSync(recordPath, 'utf8'));
    const measured = modules.map((module): [string, number] => {
      const { duration } = module.diagnostic();
      return [nameOf(module.moduleId), Math.round(duration / 1_000)];
    });
    const all = Object.entries({ ...former, ...Object.fromEntries(measured) });
    const long = all.filter(
      ([name, seconds]) =>
        seconds >= recordedSecondsMin && existsSync(join(projectDir, `tests/${name}.test.ts`)),
    );
    long.sort(([, one], [, other]) => other - one);
    writeFileSync(recordPath, `${JSON.stringify(Object.fromEntries(long), undefined, 2)}\n`);
  }
}
