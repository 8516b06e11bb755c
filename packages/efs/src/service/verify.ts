// `efs verify`: compares the code that a canister runs with a build.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { Run } from '../config/run.ts';
import { printJson, printLine, printNote } from '../output/output.ts';
import { UsageError } from '../output/usage-error.ts';

/** The file to which `npm run build` writes the module. */
const ownBuild = 'build/file_storage.wasm.gz';
const hashPattern = /^[0-9a-f]{64}$/i;

interface Wanted {
  /** Names in sentences what has the hash. */
  readonly name: string;
  /** SHA-256 in lower case. */
  readonly hash: string;
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
  const hash = createHash('sha256').update(readFileSync(build)).digest('hex');
  return { name: build, hash };
}

/** The network signs hash and controllers. Fails if the canister runs other code. */
export async function verify(
  run: Run,
  build: string = ownBuild,
  { json }: { json?: boolean } = {},
): Promise<void> {
  const { name, hash } = wantedOf(build);
  const { moduleHash, controllers } = await (await run.manager()).code();
  const isSame = moduleHash === hash;
  const canister = run.canisterId ?? 'The canister';
  if (json) printJson({ isSame, moduleHash, expected: hash, controllers });
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
      `one is ${hash}. Another commit, another version or an altered build has another hash.`,
  );
}
