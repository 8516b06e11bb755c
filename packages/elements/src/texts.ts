// The texts of the elements in English. A page replaces some or all by the property `texts`.

/** Texts of `<efs-upload>`. */
export interface UploadTexts {
  readonly label: string;
  readonly choose: string;
  readonly chooseFolder: string;
  readonly drop: string;
  readonly limits: (limits: UploadLimits) => string;
  readonly waiting: string;
  readonly sending: (percent: number, size: string) => string;
  readonly offline: string;
  readonly done: (size: string) => string;
  /** Names of buttons, which screen readers read out with the file's name. */
  readonly cancel: string;
  readonly retry: string;
  readonly remove: string;
  /** Messages to screen readers. */
  readonly doneMessage: (name: string) => string;
  readonly failedMessage: (name: string, reason: string) => string;
  /** Why a file is not stored. */
  readonly wrongType: (accept: string) => string;
  readonly tooLarge: (size: string) => string;
  readonly isFolder: string;
  readonly unreadable: string;
  readonly exists: string;
  readonly noRight: string;
  readonly serviceLimit: string;
  readonly full: string;
  readonly noTus: string;
  readonly noNetwork: string;
  readonly failed: (message: string) => string;
  readonly tooMany: (maxFiles: number, leftOut: number) => string;
  /** The element lacks a valid upload link. */
  readonly noPlace: string;
  /** Why a form with the element cannot be sent yet. */
  readonly unfinished: string;
  readonly required: string;
}

export interface UploadLimits {
  readonly maxFiles: number | undefined;
  /** Such as "5 MB". */
  readonly maxSize: string | undefined;
}

export const uploadTexts: UploadTexts = {
  label: 'Upload files',
  choose: 'Choose files',
  chooseFolder: 'Choose a folder',
  drop: 'or drop them here',
  limits: ({ maxFiles, maxSize }) => {
    const files = maxFiles === undefined ? '' : maxFiles === 1 ? 'One file' : `${maxFiles} files`;
    if (maxSize === undefined) return files;
    return files === '' ? `Up to ${maxSize} each` : `${files}, up to ${maxSize}`;
  },
  waiting: 'Waiting',
  sending: (percent, size) => `${percent} % of ${size}`,
  offline: 'No network. Continues when it is back.',
  done: (size) => `Stored, ${size}`,
  cancel: 'Cancel',
  retry: 'Try again',
  remove: 'Remove',
  doneMessage: (name) => `${name} is stored.`,
  failedMessage: (name, reason) => `${name}: ${reason}`,
  wrongType: (accept) => `This type of file is not accepted, only ${accept}.`,
  tooLarge: (size) => `The file is larger than ${size}.`,
  isFolder: 'Folders are not accepted: choose the files in them.',
  unreadable: 'The folder is empty, or could not be read.',
  exists: 'A file with this name is stored already, perhaps by this upload.',
  noRight: 'The upload link has expired, or does not allow this upload.',
  serviceLimit: 'The file is larger than the upload link allows.',
  full: 'The storage is full, or accepts no more files by this link.',
  noTus: 'The service accepts no file of this size from this page.',
  noNetwork: 'The service was not reached.',
  failed: (message) => `The upload failed: ${message}`,
  tooMany: (maxFiles, leftOut) =>
    `At most ${maxFiles} ${maxFiles === 1 ? 'file' : 'files'}: ${leftOut} left out.`,
  noPlace: 'Uploads are not possible: the page has no valid upload link.',
  unfinished: 'Wait for the uploads to end.',
  required: 'Upload a file.',
};

/** Texts of `<efs-gallery>`. */
export interface GalleryTexts {
  readonly label: string;
  readonly root: string;
  readonly folder: string;
  readonly loading: string;
  readonly empty: string;
  readonly more: string;
  readonly shown: (count: number) => string;
  readonly notListed: (bucket: string) => string;
  readonly failed: string;
  readonly noBucket: string;
  readonly retry: string;
  readonly close: string;
  readonly previous: string;
  readonly next: string;
}

export const galleryTexts: GalleryTexts = {
  label: 'Files',
  root: 'All files',
  folder: 'Folder',
  loading: 'Loading …',
  empty: 'No files.',
  more: 'Show more',
  shown: (count) => `${count} ${count === 1 ? 'entry' : 'entries'} shown.`,
  notListed: (bucket) => `The files of “${bucket}” are not listed publicly.`,
  failed: 'The files could not be listed.',
  noBucket: 'The page does not say whose files to show.',
  retry: 'Try again',
  close: 'Close',
  previous: 'Previous',
  next: 'Next',
};

/** Texts of `<efs-file>`. */
export interface FileTexts {
  readonly open: string;
  readonly loading: string;
  readonly missing: string;
  readonly failed: string;
  readonly noAddress: string;
  readonly onlyBeginning: (size: string) => string;
}

export const fileTexts: FileTexts = {
  open: 'Open',
  loading: 'Loading …',
  missing: 'This file does not exist, or its link has expired.',
  failed: 'The file could not be loaded.',
  noAddress: 'The page does not say which file to show.',
  onlyBeginning: (size) => `Only the first ${size} are shown.`,
};
