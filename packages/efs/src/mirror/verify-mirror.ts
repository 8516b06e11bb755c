// `efs mirror --verify`: compares the digests, types, tags and metadata of all files and former
// versions of both buckets, and changes nothing.

import { StorageError } from '../../../client/src/storage-error.ts';
import type { Run } from '../config/run.ts';
import { isJson } from '../output/json-output.ts';
import { printJson, printLine } from '../output/output.ts';
import { printable } from '../output/printable.ts';
import { allStates, type PathStates, stateAt, statesOf } from './bucket-states.ts';
import type { MirrorFlags } from './mirror-job.ts';
import type { Sides } from './mirror-sides.ts';
import { isEmptyPlan, type PathPlan, planOf } from './path-plan.ts';
import { wrongBytes } from './verify-bytes.ts';

export async function verifyMirror(
  run: Run,
  sides: Sides,
  { parallel: concurrency, bytes }: MirrorFlags,
): Promise<void> {
  const { source, target, pair } = sides;
  const [here, there] = await Promise.all([allStates(source), target.allStates(concurrency)]);
  const paths = new Set([...here.keys(), ...there.keys()]);
  const suspects = [...paths].filter((path) => reasonAt(sides, path, { here, there }));
  // A file may have changed between the two lists.
  const again = {
    here: await statesOf(source, suspects, { concurrency }),
    there: await target.statesOf(suspects, concurrency),
  };
  const differences = suspects.flatMap((path) => {
    const reason = reasonAt(sides, path, again);
    return reason === undefined ? [] : [{ path, reason }];
  });
  if (bytes) {
    const same = [...paths].filter((path) => !differences.some((one) => one.path === path));
    differences.push(...(await wrongBytes(sides, same, { here, there, concurrency })));
  }
  const files = [...here.values()].filter(({ present }) => present !== undefined).length;
  const versions = [...here.values()].reduce((sum, { former }) => sum + former.length, 0);
  if (isJson()) printJson({ ...pair, files, versions, differences });
  else for (const { path, reason } of differences) printLine(`${printable(path)}: ${reason}`);
  if (differences.length > 0) {
    throw new StorageError(
      'IntegrityError',
      `${differences.length} of ${paths.size} paths differ between ${pair.source} and its mirror ` +
        `${pair.target}: efs mirror --once makes them equal.`,
    );
  }
  if (isJson() || run.isQuiet) return;
  printLine(
    `${pair.target} equals ${pair.source}: ${files} files and ${versions} former versions have ` +
      'the same digests, types and metadata.',
  );
  if (bytes) printLine('The bytes of all of them were downloaded and compared.');
  else if (target.aboutDigests !== undefined) printLine(target.aboutDigests());
}

interface Both {
  readonly here: PathStates;
  readonly there: PathStates;
}

function reasonAt({ keepsVersions }: Sides, path: string, both: Both): string | undefined {
  if (stateAt(both.there, path).isForeign) return 'the mirror did not store what is there';
  const plan = planOf(stateAt(both.here, path), stateAt(both.there, path), keepsVersions);
  return isEmptyPlan(plan) ? undefined : reasonOf(plan);
}

function reasonOf({ append, erase, remove, change }: PathPlan): string {
  if (append.length > 0) return `the mirror lacks ${append.length} versions`;
  if (erase.length > 0) return `only the mirror has ${erase.length} of its versions`;
  if (remove) return 'only the mirror has the file';
  return change === undefined ? 'the mirror has deleted the file' : 'type, tags or metadata differ';
}
