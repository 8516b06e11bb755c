// `efs verify`: compares the code that a canister runs with a build.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { commitSection } from '../../../client/src/actor/module-metadata.ts';
import type { Run } from '../config/run.ts';
import { printJson, printLine, printNote } from '../output/output.ts';
import { UsageError } from '../output/usage-error.ts';
import { textOf } from '../upgrade/module-file.ts';

/** The file to which `npm run build` writes the module. */
const ownBuild = 'build/file_storage.wasm.gz';
const hashPattern = /^[0-9a-f]{64}$/i;

/** The major versions of Node that are known to build the same bytes. */
const testedNodes = [20, 22, 24, 26];

interface Wanted {
  /** Names in sentences what has the hash. */
  readonly name: string;
  /** SHA-256 in lower case. */
  readonly hash: string;
  /** The commit that the build names. */
  readonly commit?: string | undefined;
  /** The version of Node that built it, if the build recorded it. */
  readonly node?: string | undefined;
}

/** `build`: a module as it is installed, or its SHA-256. */
function wantedOf(build: string): Wanted {
  if (hashPattern.test(build)) return { name: 'that hash', hash: build.toLowerCase() };
  if (!existsSync(build)) {
    throw new UsageError(
      `There is no file ${build}: run npm run build in a checkout of the source, or give the ` +
        'SHA-256 of a release.',
    );
  }
  const bytes = readFileSync(build);
  const hash = createHash('sha256').update(bytes).digest('hex');
  return { name: build, hash, commit: textOf(bytes, commitSection), node: nodeOf(build, hash) };
}

/** Returns the Node that the build recorded beside the module, if the record is about this one. */
function nodeOf(build: string, hash: string): string | undefined {
  try {
    const text = readFileSync(join(dirname(build), 'origin.json'), 'utf8');
    const { sha256, node } = JSON.parse(text) as { readonly sha256: string; readonly node: string };
    return sha256 === hash ? node : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the sentence that says why the hashes differ, as far as it can be known. */
function reasonOf({ commit: built, node }: Wanted, runs: string | undefined): string {
  if (built !== undefined && runs !== undefined && built !== runs) {
    return (
      `The canister names the commit ${runs} as its source, and the build ${built}: check out the ` +
      'former, and build again.'
    );
  }
  const major = Number(/^v(\d+)\./.exec(node ?? '')?.[1]);
  if (node !== undefined && !testedNodes.includes(major)) {
    return (
      `The build was made with Node ${node}, and only Node ${testedNodes.join(', ')} are known to ` +
      'give the same bytes: build again with one of them.'
    );
  }
  if (built !== undefined && built === runs) {
    return (
      `Both name the commit ${built}: one of them was altered, or was built with other ` +
      'dependencies than those in package-lock.json (npm ci installs these).'
    );
  }
  return 'Another commit, another version or an altered build has another hash.';
}

/** The network signs hash and controllers. Fails if the canister runs other code. */
export async function verify(
  run: Run,
  build: string = ownBuild,
  { json }: { json?: boolean } = {},
): Promise<void> {
  const wanted = wantedOf(build);
  const { name, hash } = wanted;
  const { moduleHash, controllers, commit } = await (await run.manager()).code();
  const isSame = moduleHash === hash;
  const canister = run.canisterId ?? 'The canister';
  if (json) printJson({ isSame, moduleHash, expected: hash, controllers, commit });
  else if (isSame) {
    printLine(`${canister} runs the code of ${name}: its module hash is ${moduleHash}.`);
    printNote(
      controllers.length === 0
        ? 'Nobody can replace the code.'
        : `These controllers can replace the code: ${controllers.join(', ')}.`,
    );
  }
  if (isSame) return;
  throw new Error(
    `${canister} runs other code than ${name}: its module hash is ${moduleHash}, and the expected ` +
      `one is ${hash}. ${reasonOf(wanted, commit)}`,
  );
}
