// Checks names from a service as local file names: a file must not leave its folder or be a device,
// and two names must not be one file on a disk that ignores case.

import { mkdtemp, readdir, rmdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { entryAt } from './target-file.ts';

/** Names that Windows treats as devices, with any extension. */
const deviceName = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?$/i;
const windowsForbidden = /[<>:"|?*\\]/;
const controls = /\p{Cc}/u;
const partName = /^\.efs-[0-9a-f]{16}\.part$/;

export function isPartName(name: string): boolean {
  return partName.test(name);
}

/** Returns why a relative path cannot be a file below the folder; undefined if it can. */
export function unsafeReason(
  path: string,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  const names = path.split('/');
  if (names.some((name) => name === '' || name === '.' || name === '..')) {
    return 'its name would not stay in the folder';
  }
  if (path.includes('\0')) return 'its name has a zero byte';
  if (names.some(isPartName)) return 'its name is reserved for partial downloads of efs';
  if (platform !== 'win32') return undefined;
  if (windowsForbidden.test(path) || controls.test(path)) {
    return 'its name has a character that Windows does not allow';
  }
  if (names.some((name) => deviceName.test(name))) return 'its name is that of a device';
  if (names.some((name) => /[. ]$/.test(name))) {
    return 'its name ends with a dot or a space, which Windows drops';
  }
  return undefined;
}

/** Returns the same key for two paths if they are one file on the disk of the folder. */
type DiskKey = (path: string) => string;

interface DiskCheck {
  /** Whether nothing may be written. */
  readonly isDryRun?: boolean | undefined;
  readonly lookUp?: typeof entryAt;
}

/**
 * Finds out by a temporary folder which names are one file. The platform does not tell: Linux can
 * mount disks that ignore case, and macOS some that distinguish it. If the folder is not writable,
 * names that may be one file have the same key. A dry run looks up the folder's own names instead.
 */
export async function diskKeyOf(
  folder: string,
  { isDryRun, lookUp = entryAt }: DiskCheck = {},
): Promise<DiskKey> {
  const parent = await existingFolder(folder);
  const created = isDryRun
    ? undefined
    : await mkdtemp(join(parent, '.efs-\u00e9')).catch(() => undefined);
  if (created === undefined && !isDryRun) return nameKey;
  try {
    const names = new Set(created === undefined ? await namesIn(parent) : [basename(created)]);
    const ignores = async (changed: (name: string) => string) => {
      const name = [...names].find((each) => !names.has(changed(each)));
      return name !== undefined && (await lookUp(join(parent, changed(name)))) !== undefined;
    };
    const ignoresCase = await ignores((name) =>
      name.replace(/[a-z]/g, (letter) => letter.toUpperCase()),
    );
    const ignoresForm = await ignores((name) => name.normalize('NFD'));
    return (path) => {
      const text = ignoresForm ? withoutForm(path) : path;
      return ignoresCase ? withoutCase(text) : text;
    };
  } finally {
    if (created !== undefined) await rmdir(created).catch(() => {});
  }
}

/** Returns the same key for two paths that may be one file on some disk. */
export function nameKey(path: string): string {
  return withoutCase(withoutForm(path));
}

/** Returns whether two paths are one file, such as on a disk that ignores case. */
export async function isOneFile(one: string, other: string): Promise<boolean> {
  const [stats, others] = [await entryAt(one), await entryAt(other)];
  return stats !== undefined && stats.ino === others?.ino && stats.dev === others.dev;
}

function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

async function existingFolder(folder: string): Promise<string> {
  const path = resolve(folder);
  const isThere = (await entryAt(path)) !== undefined;
  return isThere || path === dirname(path) ? path : existingFolder(dirname(path));
}

function withoutForm(path: string): string {
  return path.normalize('NFC');
}

/**
 * Joins letters with several lower-case forms too, such as the two of a Greek sigma. A dotless i is
 * another letter: only Turkish rules give it the upper case of i.
 */
function withoutCase(path: string): string {
  const parts = path.toLowerCase().split('\u0131');
  return parts.map((part) => part.toUpperCase()).join('\u0131');
}
