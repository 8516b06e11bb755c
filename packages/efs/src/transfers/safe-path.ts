// Checks names from a service as local file names: a file must not leave its folder or be a device,
// and two names must not be one file on a disk that ignores case.

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

/** Returns the same key for names that are one file on the disks of this platform. */
export function diskKey(path: string, platform: NodeJS.Platform = process.platform): string {
  const isCaseBlind = platform === 'win32' || platform === 'darwin';
  return isCaseBlind ? path.normalize('NFC').toLowerCase() : path;
}
