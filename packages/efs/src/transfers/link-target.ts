// The target of `efs get <link>`. The link's creator chose the name in it. A name that the user did
// not type must not replace a file, be hidden or change a shell's settings, as .bashrc would.

import type { Run } from '../config/run.ts';
import { printNote } from '../output/output.ts';
import { printable } from '../output/printable.ts';
import { UsageError } from '../output/usage-error.ts';
import { unsafeReason } from './safe-path.ts';
import { entryAt, findTarget, isFolderTarget, pathIn, type TargetFile } from './target-file.ts';

/** `target` is a file, or a folder for a file with the name in the link. */
export async function findLinkTarget(
  run: Run,
  target: string | undefined,
  name: string,
): Promise<TargetFile> {
  if (target !== undefined && !(await isFolderTarget(target))) return findTarget(target, name);
  const path = target === undefined ? name : pathIn(target, name);
  const reason = unfitReason(name) ?? ((await entryAt(path)) && `"${printable(path)}" exists`);
  if (reason !== undefined) {
    throw new UsageError(
      `efs does not use the link's file name "${printable(name)}": ` +
        `${reason}. Give a name: efs get <link> NAME.`,
    );
  }
  const file = await findTarget(target, name);
  if (!run.isQuiet) {
    printNote(`Saves the file as "${printable(path)}"; efs get <link> NAME gives it another name.`);
  }
  return file;
}

function unfitReason(name: string): string | undefined {
  if (name.startsWith('.')) return 'it begins with a dot';
  if (/[\\/]/.test(name)) return 'it has a slash or a backslash';
  if (/\p{Cc}/u.test(name)) return 'it has a control character';
  return unsafeReason(name);
}
