// The texts of the page in English, by view. Every other language has the same type. A message with
// values is a function, because plurals and the order of words belong to the language.

import { numberIn } from './formats.ts';

const number = numberIn('en');

/** Returns `3 files`, `1 file` or `no files`. */
function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${count === 0 ? 'no' : number(count)} ${count === 1 ? singular : plural}`;
}

const files = (count: number) => counted(count, 'file');
const entries = (count: number) => counted(count, 'entry', 'entries');
const buckets = (count: number) => counted(count, 'bucket');
const days = (count: number) => counted(count, 'day');
const uploads = (count: number) => counted(count, 'upload');
const named = (name: string) => `“${name}”`;

/** One entry by its name, or several by their number. */
const chosen = (name: string | undefined, count: number) =>
  name === undefined ? entries(count) : named(name);

/** Returns ` of 5 MB`; '' if the whole is unknown. */
const ofWhole = (whole: string | undefined) => (whole === undefined ? '' : ` of ${whole}`);

export const texts = {
  direction: 'ltr' as 'ltr' | 'rtl',
  page: {
    name: 'Files',
    language: 'Language',
    needsJavaScript: 'This page needs JavaScript to be switched on.',
    skip: 'Skip to the content',
    signOut: 'Sign out',
    oneMoment: 'One moment …',
    loading: 'Loading …',
    unloaded: 'A part of this page did not load. The service may run a newer version.',
    tryAgain: 'Try again',
    cancel: 'Cancel',
    close: 'Close',
    remove: 'Remove',
    add: 'Add',
    added: 'Added.',
    saved: 'Saved.',
    changing: 'Changing …',
    undo: 'Undo',
    notices: 'Notices',
    dismiss: 'Dismiss',
    busy: (soon: string) => `The service is busy: trying again ${soon}.`,
  },
  words: {
    bytes: (count: number) => (count === 1 ? '1 byte' : `${count} bytes`),
    days,
    moreThanTenYears: 'more than ten years',
    justNow: 'just now',
    /** A date within a sentence, such as `deleted May 3, 2026`. */
    onDate: (date: string) => date,
    noExpiry: 'does not expire',
    expired: 'has expired',
    expires: (soon: string) => `expires ${soon}`,
    of: (part: string, whole: string) => `${part} of ${whole}`,
    /** Kinds of files by the names that `kindOf` gives them. */
    kinds: {
      image: 'Image',
      video: 'Video',
      audio: 'Audio',
      pdf: 'PDF',
      markdown: 'Markdown',
      web: 'Web page',
      text: 'Text',
      json: 'JSON',
      archive: 'Archive',
      file: 'File',
    },
  },
  failures: {
    /** By the codes of the service and of the client. */
    byCode: {
      NetworkError: 'The service cannot be reached. Check the connection, then try again.',
      Timeout: 'The service has not answered in time. Try again in a moment.',
      Unauthorized: 'This needs a key. Sign in again.',
      InvalidApiKey:
        'The key is unknown, has expired, or was revoked. Ask an owner of the bucket for another one.',
      NoSuchBucket:
        'The bucket does not exist, or you have no right to it. An owner can make you a member.',
      NoSuchFile: 'The file no longer exists: somebody moved or deleted it.',
      PreconditionFailed: 'The file has changed meanwhile. Check it before you continue.',
      FileHeld:
        'Retention or a legal hold protects the file, so it cannot be replaced, deleted, moved or ' +
        'changed. Its page shows until when.',
      QuotaExceeded: 'The bucket is full. Delete files, or ask an owner for a larger quota.',
      UploadExpired: 'The upload was idle for too long and has expired. Start it again.',
      IntegrityError: 'The received bytes differ from the stored ones. Try again.',
      HttpError: 'The answer did not come from the service. Try again in a moment.',
      ExpiredIdentity: 'The sign-in has expired. Sign in again.',
      BucketExists: 'A bucket with this name already exists. Choose another name.',
      BucketNotEmpty: 'The bucket has files. Delete them first.',
    },
    signInUncompleted: 'The sign-in was not completed. Allow its window to open, and try again.',
    keyIncomplete: 'The key in the address is incomplete. Copy it again.',
    ownerNotLocal: 'The address of an owner works only on a local replica. Sign in instead.',
    noVolume:
      'This service has no volume yet. A controller of the front can add one with the method addVolume.',
    notOpened:
      'This session cannot decrypt the end-to-end encrypted file. Sign in with the identity of a ' +
      'member, or download the file and decrypt it with age and an age identity.',
    fileThereAgain: 'The file exists again. Open it to see its versions.',
    folderExists: (name: string) => `The folder "${name}" already exists. Choose another name.`,
    fileExists: (name: string) => `The file "${name}" already exists. Choose another name.`,
    nameTaken: 'A file of this name already exists.',
    nameEmpty: 'The name is empty. Type a name.',
    nameWithSlash: 'A name cannot contain "/". To change the folder, use Move.',
    notMoved: (count: number, reason: string) => `${files(count)} not moved: ${reason}`,
    notDeleted: (name: string, reason: string) => `${name} was not deleted: ${reason}`,
    intoItself: {
      move: 'A folder cannot be moved into itself.',
      copy: 'A folder cannot be copied into itself.',
    },
    passage: (sealed: string, from: string, to: string) =>
      `The bucket ${sealed} is end-to-end encrypted, so the service cannot move or copy files ` +
      `between ${from} and ${to}: download the files, and upload them to ${to}.`,
  },
  copying: {
    copy: 'Copy',
    copied: 'Copied',
    isCopied: 'Copied.',
    refused: 'The browser does not let this page copy: select the text and copy it.',
    command: 'Copy the command',
    theCommand: (command: string) => `Copy the command: ${command}`,
    ownersCommand: 'Copy the command for an owner',
    principal: 'Copy the member ID',
    key: 'Copy the key',
    recipient: 'Copy the recipient',
    address: 'Copy the address',
    publicAddress: 'Copy the public address',
    link: 'Copy the link',
    addressPicture: 'The address as a QR code',
    linkPicture: 'The link as a QR code',
  },
  expiry: {
    label: 'It works for',
    day: 'a day',
    week: 'a week',
    month: '30 days',
    none: 'no limit',
  },
  signIn: {
    title: 'Sign in',
    purpose: 'View, upload and share your files.',
    stay: 'Stay signed in on this device',
    withKey: 'With a key',
    apiKey: 'API key',
    keyHint: 'It begins with efs_. Owners create keys in the settings of a bucket.',
    bucket: 'Bucket',
    byKey: 'Sign in with the key',
    underWay: 'Signing in …',
    withIdentity: 'With an identity',
    identity:
      'A key that never leaves this device signs for you. An owner must add you to a bucket once, ' +
      'with a command that this page shows you.',
    byDevice: 'Use a key on this device',
    byInternetIdentity: 'Use Internet Identity',
  },
  askedKey: {
    title: 'Use another key in this tab?',
    question: (isOwners: boolean, bucket: string) =>
      'You are already signed in. The address that you opened contains ' +
      `${isOwners ? 'the key of an owner' : 'an API key'}${bucket && ` for the bucket ${bucket}`}. ` +
      'The sender of the address may be able to read what you upload with this key. The key is ' +
      'used only in this tab; other tabs keep your own session.',
    stay: 'Stay signed in as before',
    use: 'Use the key in this tab',
  },
  overview: {
    title: 'Your buckets',
    loading: 'Loading your buckets …',
    amount: (count: number, size: string) => `${files(count)}, ${size}`,
    unknown: 'Open it to see its files.',
    readers: (isPublic: boolean, isEndToEnd: boolean) =>
      (isPublic ? 'Everybody may read it' : 'Private') +
      (isEndToEnd ? ', encrypted end to end' : ''),
    shareOfQuota: (percent: number, quota: string) => `${percent} % of its ${quota}`,
    none:
      'You have no bucket yet. Ask an owner of one to add you with the command below, or create ' +
      'one of your own.',
    device: 'Member ID of this device',
    you: 'Your member ID',
    command:
      'An owner of a bucket adds you by this ID, in the settings or with this command and the ' +
      'bucket’s name:',
  },
  addBucket: {
    open: 'Open another bucket',
    create: 'Create a bucket',
    name: 'Name of the bucket',
    hint: '1 to 64 letters, digits and hyphens, such as holiday-photos.',
    keep: (count: number) => `Keep deleted and replaced files for ${days(count)}`,
    isPublic: 'Everybody may read its files',
    endToEnd: 'End-to-end: files are encrypted before they are sent',
    sealsNames: 'Also encrypt the names of files',
    noRight: 'You may not create buckets here.',
    command: 'Whoever runs the service can allow it with this command:',
  },
  state: {
    title: 'The service',
    service: 'Service',
    files: 'Files',
    share: (percent: number) => `Files are ${percent} % of the memory`,
    amount: (fileCount: number, bucketCount: number, memory: string) =>
      `${files(fileCount)} in ${buckets(bucketCount)}; ${memory} of memory including metadata and ` +
      'the program',
    cost: 'Cost of storage',
    lessThanCent: 'less than a cent',
    cents: (count: number) => counted(count, 'cent'),
    dollars: (amount: string) => `${amount} dollars`,
    perMonth: 'per month, approximately, for the present data; reading is free',
    paid: 'Paid for',
    yearPaid: 'All of a year paid for',
    partPaid: (time: string) => `${time} of a year paid for`,
    enough:
      'of storage, without uploads. Then nobody can use the service until somebody pays for more.',
    seeService: '“Service” shows the command.',
    encryption: 'Encryption',
    version: (version: string) => `Version ${version}`,
    keyFetched: 'The key is being fetched',
    rotating: 'On; keys are being rotated',
    keyStored: 'On, with a key that the service stores',
    keyDerived: 'On, with a key that the network derives',
  },
  service: {
    title: 'Service',
    again: 'Check again',
    checking: 'Checking …',
    nobody: 'Nobody needs to act.',
    somebody: (count: number) =>
      `Somebody must act: ${counted(count, 'point')} in red, with the command.`,
    states: { fine: 'Fine', wait: 'Wait', unseen: 'Not shown', act: 'Act' },
  },
  checks: {
    room: {
      title: 'Room',
      filesFull:
        'The memory for files is nearly full. Delete files or former versions: their space is ' +
        'used again.',
      programFull: 'The memory of the program is nearly full. An upgrade empties it.',
      whole: (size: string) => `limit ${size}`,
      forFiles: (used: string, whole: string) => `${used} of ${whole} for files`,
      limit: (used: string, whole: string) =>
        `${used} of ${whole} for files, the network’s limit for one canister.`,
      engine: (used: string) => `${used} for files, limit unknown.`,
      reserved: (cycles: string, limit: string) =>
        `The network keeps ${cycles} of cycles for growth, because the subnet has little room. ` +
        `At ${limit}, the canister can no longer grow.`,
      forProgram: (used: string, whole: string) =>
        `${used} of ${whole} for the program while it runs.`,
      bucketFull: (bucket: string, used: string, quota: string) =>
        `The bucket “${bucket}” is nearly full: ${used} of ${quota}. Delete files, or raise its quota.`,
      bucketFilesFull: (bucket: string, count: number, quota: number) =>
        `The bucket “${bucket}” is nearly full: ${number(count)} of ${files(quota)}. ` +
        'Delete files, or raise its quota.',
    },
    cycles: {
      title: 'Cycles',
      unseen: 'Only controllers and owners of buckets see the cycles.',
      free: 'The service needs no cycles: its subnet charges nothing.',
      soon:
        'Add cycles soon: the canister freezes without them, and an upgrade needs 0.31 T above the ' +
        'reserve.',
      now: 'Add cycles now: the canister accepts no uploads, and soon it answers nobody.',
      enough: (cycles: string, time: string) =>
        `${cycles} of cycles, with which the service pays the network: enough for ${time} of ` +
        'storage, without uploads.',
      reserve: (count: number, cycles: string) =>
        `The canister freezes below a reserve for ${days(count)}, now ${cycles}. A longer freezing ` +
        'threshold raises the reserve.',
      share: (time: string) => `Enough for ${time}`,
      year: 'full at one year',
    },
    requests: {
      title: 'Requests and refusals',
      unseen: 'This version of the service reports no budgets.',
      flood:
        'Many callers without a right are being refused. The service turns further ones away at ' +
        'no cost, so nobody needs to act.',
      notAllowed: (subject: string) => `${subject}: not allowed.`,
      budget: (subject: string, left: number, burst: number, perMinute: number) =>
        `${subject}: ${number(left)} of ${number(burst)} left, ${number(perMinute)} more each minute.`,
      anonymous: 'Requests without a key',
      links: 'Requests by links',
      refusals: 'Refused requests',
      moreAnonymous: 'Some requests without a key are refused. If they are welcome, allow more.',
      moreLinks: 'Some requests by links are refused. If they are welcome, allow more.',
    },
    derivations: {
      title: 'Keys of end-to-end buckets',
      unseen: 'This version of the service reports no budget of derivations.',
      derivations: 'Derivations',
      more: 'New members of end-to-end buckets must wait for their keys. If they are welcome, allow more.',
    },
    encryption: {
      title: 'Encryption',
      continues: 'This continues by itself while the service runs.',
      late: 'The key has been missing for a minute. The log of the canister says why.',
    },
    uploads: {
      title: 'Uploads under way',
      unseen: 'Owners of a bucket who sign in with an identity see its uploads.',
      none: 'No uploads in the buckets that you own.',
      ends: 'An upload ends by itself a day after its last part has arrived.',
      count: uploads,
      held: (count: number, size: string, begun: string, idleCount: number) =>
        `${uploads(count)} of ${size}, the oldest begun ${begun}` +
        (idleCount === 0 ? '' : `; ${number(idleCount)} idle for more than an hour`),
      idle: (bucket: string) =>
        `Idle uploads leave no room in the bucket “${bucket}”. Cancel them on its page, or list ` +
        'them and cancel by id.',
    },
    silent: {
      title: 'Unreachable volume',
      sentence: (id: string) =>
        `The volume ${id} does not answer, so its buckets are missing here.`,
    },
    front: {
      title: 'Front',
      present: 'This page comes from the front, which certifies all its responses.',
      absent: 'The canister has no front, so this page opens no files of end-to-end buckets.',
    },
  },
  /** The pages of a bucket. */
  tabs: { files: 'Files', deleted: 'Deleted', activity: 'Activity', bucket: 'Settings' },
  files: {
    folders: 'Folders',
    buckets: 'Buckets',
    newFolder: 'New folder',
    pictures: 'Show pictures',
    noPictures: 'Hide pictures',
    more: 'More actions',
    receive: 'Drop box',
    shareFolder: 'Share folder',
    upload: 'Upload files',
    uploadFolder: 'Upload a folder',
    drop: (place: string) => `Drop to upload to ${place}`,
    pasted: (time: string) => `pasted ${time}`,
    filter: 'Filter by name, or search by name or #tag',
    search: 'Search',
    searchBucket: 'Search the bucket',
    clearSearch: 'Clear the search',
    choose: 'Choose files',
    searchFolder: 'Search this folder',
    empty: 'Nothing here yet.',
    emptyForWriters: 'Nothing here yet. Drop files or folders here, or choose them.',
    notFound: 'Nothing found.',
    searching: (read: number, found: number) =>
      `Searching: ${files(read)} read, ${number(found)} found …`,
    part: (count: number) => `${entries(count)} so far`,
    sortedPart: (count: number) => `${entries(count)} so far, sorted among these`,
    found: (count: number, among: number) => `${files(count)} found among ${files(among)}`,
    count: files,
    countWithFolders: (folderCount: number, fileCount: number) =>
      `${counted(folderCount, 'folder')}, ${files(fileCount)}`,
  },
  grid: {
    isProtected: 'Protected by retention or a legal hold',
    label: 'Files',
    selectAll: 'Select all',
    name: 'Name',
    size: 'Size',
    changed: 'Changed',
    folder: 'Folder',
    select: (name: string) => `Select ${name}`,
    actionsFor: (name: string) => `Actions for ${name}`,
    actions: 'Actions',
    newName: (name: string) => `New name of ${name}`,
  },
  shortcuts: {
    title: 'Keyboard',
    rows: [
      ['↑ ↓', 'move through the files; with Shift, select them'],
      ['Space', 'select'],
      ['Enter', 'open'],
      ['Ctrl A', 'select all'],
      ['F2', 'rename the selected file'],
      ['Delete', 'delete the selected files'],
      ['Escape', 'clear the selection'],
      ['/', 'go to the filter'],
      ['?', 'this help'],
    ] as readonly (readonly [keys: string, meaning: string])[],
  },
  selection: {
    label: 'Selected files',
    count: (count: number) => `${number(count)} selected`,
    clear: 'Clear',
    download: 'Download',
    preparing: 'Preparing …',
    stop: 'Stop',
    share: 'Share',
    rename: 'Rename',
    move: 'Move',
    copy: 'Copy',
    delete: 'Delete',
    zipped: (count: number, name: string) => `${entries(count)} downloaded as ${name}.`,
  },
  deletion: {
    title: (name: string | undefined, count: number) => `Delete ${chosen(name, count)}?`,
    delete: 'Delete',
    underWay: 'Deleting …',
    amount: (count: number, size: string) => ` (${files(count)}, ${size})`,
    question: (name: string | undefined, count: number, amount: string, bucket: string) =>
      `${chosen(name, count)}${amount} will be deleted from ${bucket}.`,
    canUndo: 'The bucket keeps former versions: you can undo this.',
    isFinal: 'This cannot be undone.',
    done: (count: number) => `${files(count)} deleted.`,
    undone: (count: number) => `${files(count)} restored.`,
  },
  moving: {
    moveTitle: (name: string | undefined, count: number) => `Move ${chosen(name, count)}`,
    copyTitle: (name: string | undefined, count: number) => `Copy ${chosen(name, count)}`,
    moveTo: (name: string | undefined, count: number, place: string) =>
      `Move ${chosen(name, count)} to ${place}`,
    copyTo: (name: string | undefined, count: number, place: string) =>
      `Copy ${chosen(name, count)} to ${place}`,
    soFar: (count: number) => `${files(count)} so far`,
    movingNow: 'Moving …',
    copyingNow: 'Copying …',
    newFolder: 'New folder in it',
    newFolderHint: 'For example 2026/summer. Leave empty to use the chosen folder.',
    differs: (bucket: string) =>
      `The settings of ${bucket} are others than shown before. Check, then try again.`,
    becomesPublic: (bucket: string) =>
      `The bucket ${bucket} is public: everybody can read the files there.`,
    linksEnd: (bucket: string) => `Links to the files end when the files leave ${bucket}.`,
    underWay: (count: number) => `Moving ${entries(count)} …`,
    renamed: (count: number) => `${entries(count)} renamed.`,
    moved: (count: number, place: string) => `${entries(count)} moved to ${place}.`,
    copied: (count: number, place: string) => `${entries(count)} copied to ${place}.`,
    movedBack: (count: number, place: string) => `${entries(count)} moved back to ${place}.`,
    bucket: 'Bucket',
    chosen: 'Chosen folder',
    foldersIn: (place: string) => `Folders in ${place}`,
    noFoldersYet: (count: number) => `No folders among the first ${entries(count)}.`,
    noFolders: 'No folders here.',
    moreFolders: 'More folders',
  },
  newFolder: {
    title: 'New folder',
    name: 'Name of the folder',
    hint: 'The folder is stored with its first file.',
    open: 'Open the folder',
  },
  sharing: {
    title: (name: string) => `Share ${named(name)}`,
    active: 'Active links',
    once: 'The link is ready. It is shown only once: copy it now.',
    opening:
      'Whoever has the whole address, including the part after #, can read the current version of ' +
      'the file. A new version needs another link.',
    unopened: 'The file stays encrypted: only those who have an identity for it can decrypt it.',
    whoever: 'Whoever has the link can read the file without signing in.',
    password: 'Password (optional)',
    passwordHint: 'Send it by another way than the link.',
    maxDownloads: 'Number of downloads (optional)',
    maxDownloadsHint: 'The link ends after so many; each starts more slowly.',
    needsPassword: 'with a password',
    downloads: (part: string) => `${part} downloads`,
    create: 'Create a link',
    creating: 'Creating a link …',
    made: (when: string, expiry: string) => `Created ${when}, ${expiry}`,
    madeWithKey: (when: string, key: string, expiry: string) =>
      `Created ${when} with the key ${key}, ${expiry}`,
    madeByYou: (when: string, expiry: string) => `Created ${when} by you, ${expiry}`,
    madeBy: (when: string, maker: string, expiry: string) =>
      `Created ${when} by ${maker}, ${expiry}`,
    revokeOne: (when: string) => `Revoke the link created ${when}`,
    revoke: 'Revoke',
    revoking: 'Revoking …',
  },
  dropBoxDialog: {
    title: 'Create a drop box',
    purpose:
      'People with the address can send files to this folder without signing in. They do not see ' +
      'the stored files.',
    inbox: 'inbox',
    keyOf: (folder: string) => `Drop box ${folder}`,
    ready: (key: string) =>
      'The address is shown only once: copy it now. It works until it expires or until you ' +
      `revoke the key “${key}” in its Settings.`,
    folder: 'Folder',
    key: 'Name of the key',
    keyHint: 'To find the key again when you want to revoke it.',
    message: 'Message to the senders (optional)',
    files: 'Number of files (optional)',
    megabytes: 'Size of each file in MB (optional)',
    create: 'Create the address',
    creating: 'Creating the address …',
    sealsNames:
      'Only members can upload to a bucket that seals names. Create the drop box in another bucket.',
  },
  folderLink: {
    title: 'Share this folder',
    purpose:
      'People with the address see and download the files of this folder, also later ones, without ' +
      'signing in. They can change nothing.',
    sealedPurpose:
      'People with the address see the names in this folder and download its present files without ' +
      'signing in. They can change nothing.',
    keyOf: (folder: string) => `Link to ${folder}`,
    needsFront:
      'Files of this bucket are encrypted before they are sent. Only a page of a front opens or ' +
      'creates such links: use the command efs, or ask the owner to add a front.',
    opens: (count: number) =>
      `The address opens ${files(count)}, but none that is added or replaced from now on: then run ` +
      'efs link refresh, or create another address.',
    unreadable: (count: number) =>
      `You cannot decrypt ${files(count)}, so the address opens none of them.`,
    afterSharing: 'Added or replaced after sharing: this link does not open it',
  },
  dropBox: {
    needsFront:
      'Files of this bucket are encrypted before they are sent. This page cannot do that, since ' +
      'the service has no front: use the command efs, or ask the owner to add a front.',
    closed:
      'This drop box is closed: it has expired or was revoked. Ask the sender of the address for ' +
      'another one.',
    message: 'Message of the sender of the address',
    title: 'Send files to this drop box',
    toFolder: (folder: string, bucket: string) =>
      `Files go to the folder “${folder}” of “${bucket}”. This page does not show stored files.`,
    toBucket: (bucket: string) => `Files go to “${bucket}”. This page does not show stored files.`,
    checking: 'Checking the drop box …',
    readable: 'Files are stored encrypted, but whoever runs the service could read them.',
    sealed:
      'Files are encrypted on this device before they are sent; only their recipients can decrypt them.',
    dropHere: 'Drop files or folders here, or choose them.',
    changedToReadable:
      'Files would no longer be encrypted on this device: whoever runs the service could read them.',
    changedToSealed:
      'Your files would now be encrypted on this device, for recipients that the address does not name.',
    changed:
      'The recipients have changed since this address was made: other people could read your files.',
    nothingSent:
      'Nothing is sent until you accept this. First ask the person who sent you the address.',
    compare: (command: string) =>
      `The owner can compare this digest with the one that ${command} prints:`,
    sendReadable: 'Send without encryption',
    accept: 'Accept the recipients',
    sent: (count: number) => `${files(count)} sent`,
    more: 'You may close this page, or send more.',
  },
  file: {
    filesOfFolder: 'Files of the folder',
    previous: 'Previous',
    next: 'Next',
    links: 'Links',
    wasDeleted: (size: string, when: string, expiry: string) =>
      `This file, ${size}, was deleted ${when}. Its last version ${expiry}.`,
    restore: 'Restore',
    restoring: 'Restoring …',
    deleted: 'Deleted files',
    download: 'Download',
    preparing: 'Preparing …',
    publicAddress: 'Public address',
    publicUntil: 'Everybody can read the file at this address, until the bucket becomes private.',
    size: 'Size',
    sizeInBytes: (size: string, count: number) => `${size} (${number(count)} bytes)`,
    kind: 'Kind',
    changed: 'Changed',
    firstStored: 'First stored',
    version: 'Version',
    tags: 'Tags',
    noTags: 'none',
    ofChunks: (digest: string) => `of the chunks: ${digest}`,
    preview: 'Preview',
    noPreview: (size: string) => `No preview of this file, ${size}. Download it to open it.`,
    openPdf: 'Open the PDF in its own tab',
    picture: 'a picture',
    table: 'Table',
    firstRows: (count: number) => `The first ${counted(count, 'row')}. Download it for all.`,
  },
  editing: {
    open: 'Edit type, tags and headers',
    title: 'Edit',
    type: 'Type',
    typeHint: 'For example image/jpeg. Browsers treat the file accordingly.',
    tags: 'Tags',
    tagsHint: 'Separated by commas.',
    cacheHint: 'Leave empty to keep all headers; a value replaces all of them.',
    save: 'Save',
    saving: 'Saving …',
  },
  leftOut: {
    later: (count: number) =>
      `The zip lacks ${files(count)} that the link does not open, added or replaced after sharing.`,
    unsafe: (count: number) => `The zip lacks ${files(count)} whose names are unsafe.`,
  },
  versions: {
    title: 'Former versions',
    one: (version: number, size: string, when: string) => `Version ${version}, ${size}, of ${when}`,
    fileName: (version: number) => `(version ${version})`,
    download: 'Download',
    downloading: 'Downloading …',
    downloadOne: (version: number) => `Download version ${version}`,
    restore: 'Restore',
    restoring: 'Restoring …',
    restoreOne: (version: number) => `Restore version ${version}`,
    restored: 'The former version is restored. The replaced one is kept as a former version.',
  },
  deleted: {
    showFiles: 'Show files',
    showMore: 'Show more',
    none: 'No deleted file can be restored.',
    noneKept: 'This bucket keeps no deleted files. An owner can change this in the Settings.',
    one: (size: string, when: string, expiry: string) => `${size}, deleted ${when}, ${expiry}`,
    restore: 'Restore',
    restoring: 'Restoring …',
    restoreOne: (path: string) => `Restore ${path}`,
    restored: (name: string) => `${named(name)} is restored.`,
    erase: 'Erase',
    erasing: 'Erasing …',
    eraseOne: (path: string) => `Erase ${path}`,
    eraseTitle: (name: string) => `Erase ${named(name)}?`,
    heldStay: (count: number) =>
      `Retention or a legal hold protects ${counted(count, 'version')} of the file.`,
    eraseQuestion: 'All its versions are erased at once. This cannot be undone.',
  },
  activity: {
    oneNode:
      'One node of the network returns this list, and nothing proves it here. This command checks ' +
      'that no entry was altered or invented:',
    forMembers: 'Only members who sign in with an identity see the activity of a bucket.',
    ofFile: (name: string) => `Only changes of ${named(name)}`,
    ofBucket: 'Show the whole bucket',
    group: 'Show',
    groups: {
      all: 'Everything',
      files: 'Files',
      links: 'Links',
      keys: 'Keys',
      members: 'Members',
      settings: 'Settings',
    },
    path: 'Path contains',
    none: 'No changes yet.',
    noneFound: 'No such changes.',
    all: (count: number) => counted(count, 'change'),
    part: (found: number, read: number) =>
      `${counted(found, 'change')} shown, ${number(read)} read; there are older ones`,
    when: (ago: string, time: string, entry: number) => `${ago} · ${time} · entry ${number(entry)}`,
    you: 'you',
    service: 'this service',
    key: (name: string) => `the key ${name}`,
    /** By the names that the journal gives them; `who` follows “by”. */
    kinds: {
      'file.stored': (who: string, path: string, version: string) =>
        `${path} was stored as version ${version} by ${who}.`,
      'file.moved': (who: string, former: string, path: string) =>
        `${former} was moved to ${path} by ${who}.`,
      'file.changed': (who: string, path: string) =>
        `The type, tags or headers of ${path} were changed by ${who}.`,
      'file.restored': (who: string, path: string, version: string) =>
        `A former version of ${path} was restored as version ${version} by ${who}.`,
      'file.deleted': (who: string, path: string) => `${path} was deleted by ${who}.`,
      'version.erased': (who: string, path: string, version: string) =>
        `Version ${version} of ${path} was erased by ${who}.`,
      'hold.changed': (who: string, path: string, version: string) =>
        `The protection of version ${version} of ${path} was changed by ${who}.`,
      'thumbnail.changed': (who: string, path: string) =>
        `A thumbnail of ${path} was stored by ${who}.`,
      'link.created': (who: string, path: string) => `A link to ${path} was created by ${who}.`,
      'link.removed': (who: string, path: string) => `A link to ${path} was removed by ${who}.`,
      'key.created': (who: string, key: string) => `The key ${key} was created by ${who}.`,
      'key.revoked': (who: string, key: string) => `The key ${key} was revoked by ${who}.`,
      'member.changed': (who: string, member: string, role: string) =>
        `${member} got the role ${role} from ${who}.`,
      'bucket.created': (who: string) => `The bucket was created by ${who}.`,
      'journal.redacted': (who: string) => `Entries were redacted by ${who}.`,
      'bucket.changed': (who: string, names: string) =>
        `Settings were changed by ${who}: ${names}.`,
    },
    redacted: 'a redacted path',
    removed: (who: string, member: string) => `${member} was removed as a member by ${who}.`,
    otherKind: (who: string, kind: string, path: string) => `${kind} ${path} by ${who}.`,
    /** By the names that the journal gives them. */
    settings: {
      owner: 'owner',
      isPublic: 'who may read',
      isSite: 'site',
      isListed: 'who may list',
      isEndToEnd: 'end-to-end encryption',
      quotaBytes: 'quota',
      quotaFiles: 'number of files',
      keepVersionsDays: 'former versions',
      recipients: 'recipients',
      retention: 'retention',
      rules: 'rules',
      journalDays: 'days of activity',
    },
  },
  bucket: {
    forOwners: 'Members, keys and limits are shown to owners who sign in with an identity.',
    storage: 'Storage',
    amount: (fileCount: number, size: string) => `${files(fileCount)}, ${size}`,
    amountWithVersions: (fileCount: number, size: string, versions: number, versionSize: string) =>
      `${files(fileCount)}, ${size}, and ${counted(versions, 'former version')}, ${versionSize}`,
    quotaShare: (percent: number) => `${percent} % of the quota used`,
    quota: (used: string, quota: string) => `${used} of ${quota} used, including metadata`,
    noQuota: 'No quota.',
    readers: 'Who may read',
    everybody: 'Everybody who knows the address of a file may read it, and names can be guessed.',
    isPrivate: 'Private: only members, holders of a key, and people with a link.',
    isSite: 'The bucket is served as a site: folders show their index.html.',
    isListed: 'Everybody may list the files.',
    makePrivate: 'Make it private',
    makePublic: 'Let everybody read it',
    nowPrivate: 'Private now.',
    nowPublic: 'Public now.',
    versions: 'Former versions',
    noVersions: 'Not kept: replaced and deleted files are gone at once.',
    keepsVersions: (count: number) =>
      `Replaced and deleted files can be restored for ${days(count)}.`,
    keepVersions: 'Keep them for 30 days',
    keepNone: 'Keep none',
  },
  rules: {
    title: 'Rules',
    none: 'No rules: nothing is deleted because of its age.',
    scope: {
      whole: 'Whole bucket',
      prefix: (prefix: string) => `Paths that begin with ${named(prefix)}`,
      withTag: (scope: string, tag: string) => `${scope}, only with the tag ${named(tag)}`,
    },
    /** By the fields of a rule. */
    does: {
      deleteAfterDays: (count: number) =>
        `Files are deleted ${days(count)} after their last change.`,
      keepVersions: (count: number) =>
        (count === 1
          ? 'Only the latest former version of each file stays'
          : `Only the latest ${counted(count, 'former version')} of each file stay`) +
        '; others are erased.',
      eraseVersionsAfterDays: (count: number) =>
        `Former versions are erased ${days(count)} after they were replaced or deleted.`,
      endUploadsAfterHours: (count: number) =>
        `Unfinished uploads are cancelled ${counted(count, 'hour')} after they began.`,
    },
    disabled: 'Switched off.',
    removeOne: (id: string) => `Remove the rule ${id}`,
    action: 'New rule',
    actions: {
      deleteAfterDays: 'Delete old files',
      keepVersions: 'Limit former versions',
      eraseVersionsAfterDays: 'Erase old former versions',
      endUploadsAfterHours: 'Cancel unfinished uploads',
    },
    counts: {
      deleteAfterDays: 'Days after the last change',
      keepVersions: 'Former versions of each file',
      eraseVersionsAfterDays: 'Days after the replacement or deletion',
      endUploadsAfterHours: 'Hours after they began',
    },
    prefix: 'Only paths that begin with',
    prefixHint: 'For example logs/; empty for all.',
    tag: 'Only with the tag',
    tagHint: 'Leave empty for all.',
    add: 'Add the rule',
    addTitle: 'Add this rule?',
    soon:
      'The rule also applies to what the bucket has already: what is old enough goes within ' +
      'minutes. What retention or a hold protects stays.',
    restorable: (count: number) => `Deleted files can be restored for ${days(count)}.`,
    allThen: 'The bucket then has these rules:',
    noneThen: 'The bucket then has no rules.',
    remove: 'Remove the rule',
    removeTitle: 'Remove this rule?',
    removeMeans: 'It deletes nothing more.',
    removed: 'Removed.',
  },
  retention: {
    title: 'Retention of new files',
    none: 'New files are not retained: they can be replaced and deleted at any time.',
    meaning: 'Until its time, a retained version can be neither deleted nor changed.',
    /** By the names of the modes. */
    does: {
      governance: (count: number) =>
        `New files are retained for ${days(count)}. An owner can end this earlier.`,
      compliance: (count: number) =>
        `New files are retained for ${days(count)}. Nobody can end this earlier.`,
    },
    modes: { governance: 'Governance: owners can end it', compliance: 'Compliance: nobody can' },
    mode: 'Mode',
    days: 'Days from the storing of a file',
    set: 'Set the retention',
    askTitle: 'Retain new files?',
    warnings: {
      governance: 'Files that the bucket has already stay as they are.',
      compliance:
        'This cannot be shortened: not even an owner can delete a retained file before its time, ' +
        'and it counts towards the quota and the cost.',
    },
    removeOne: (scope: string) => `Remove the retention: ${scope}`,
    removed: 'Removed for later files. Stored files keep their retention.',
  },
  protection: {
    title: 'Protection',
    none: 'Nothing protects this file from being replaced or deleted.',
    retained: {
      governance: (time: string) => `Retained until ${time}; an owner can end this earlier.`,
      compliance: (time: string) => `Retained until ${time}; nobody can end this earlier.`,
    },
    held: 'Under a legal hold until an owner removes it.',
    hold: 'Add a legal hold',
    release: 'Remove the legal hold',
    retain: 'Retain …',
    retainTitle: 'Retain this file',
    retainLabel: 'Retain the file',
    days: 'Days from now',
    end: 'End the retention',
    endTitle: 'End the retention?',
    endMeans: 'Then the file can be replaced and deleted again.',
  },
  endToEnd: {
    title: 'End-to-end encryption',
    readable: 'Files are stored encrypted, but whoever runs the service could read them.',
    needsFront:
      'End-to-end encryption needs a front, or the command efs: at this address a single node of ' +
      'the network could replace this page.',
    needsEmpty: 'Only an empty bucket can be made end-to-end.',
    sealsNames: 'Also encrypt the names of files',
    begin: 'Make it end-to-end',
    begun: 'Now end-to-end: only members can read its files.',
    mode: (byMembers: boolean, areNamesSealed: boolean) =>
      'Files are encrypted before they are sent, and can be decrypted by ' +
      `${byMembers ? 'members' : 'whoever has the identity of a recipient below'}. ` +
      (areNamesSealed ? 'Their names are encrypted too.' : 'Names, sizes and times are visible.'),
    end: 'Switch it off',
    ended: 'Switched off.',
    identity: (epoch: number, when: string) => `Identity ${epoch}, created ${when}`,
    unpublishedIdentity: (epoch: number, when: string) =>
      `Identity ${epoch}, created ${when}; an owner’s first upload publishes its recipient`,
    rotateHint:
      'Rotate the identity when a member leaves: new files are then encrypted to another ' +
      'identity, which a former member does not get. Stored files do not change.',
    rotate: 'Rotate the identity',
    rotating: 'Rotating …',
    rotated: 'Rotated: new files are encrypted to the new identity.',
    recipients: 'Additional recipients',
    noRecipients: 'None. Add the recipient of your own age key to be able to recover files.',
    recipient: 'Recipient, age1…',
    recipientAdded: 'Added. This applies to new files.',
    recipientRemoved: 'Removed. This applies to new files.',
    removeOne: (recipient: string) => `Remove ${recipient}`,
  },
  members: {
    title: 'Members',
    roles: { reader: 'Reader', writer: 'Writer', owner: 'Owner' },
    /** By the names that the service gives them. */
    roleOf: { reader: 'reader', writer: 'writer', owner: 'owner' },
    you: (role: string) => `${role}, you`,
    asking: 'Asking the network to sign this list …',
    rights:
      'A reader lists and downloads files, a writer also uploads and deletes them, and an owner ' +
      'may do everything.',
    principal: 'Member ID',
    principalHint: 'New members find it below their buckets.',
    name: 'Name',
    nameHint: 'Optional; owners see it beside the ID.',
    role: 'Role',
    adding: 'Adding …',
    removing: 'Removing …',
    removeOne: (name: string) => `Remove ${name}`,
    removed: 'Removed, with the keys and links of this member for the bucket.',
  },
  keys: {
    title: 'Keys',
    none: 'No keys yet. A key gives a program or a person access.',
    revoke: 'Revoke',
    revoking: 'Revoking …',
    revokeOne: (name: string) => `Revoke ${name}`,
    name: 'Name',
    prefix: 'Folder',
    budget: 'Limit',
    expires: 'Expires',
    wholeBucket: 'whole bucket',
    never: 'never',
    noLimit: 'none',
    writesPerHour: (count: number) => `${counted(count, 'write')} an hour`,
    bytesPerHour: (size: string) => `${size} an hour`,
    newName: 'Name of the key',
    newPrefix: 'Only below this folder',
    prefixHint: 'Leave empty for the whole bucket.',
    days: 'Days until it expires',
    daysHint: 'Leave empty for a key without expiry.',
    permissions: 'Permissions',
    read: 'read',
    write: 'write',
    delete: 'delete',
    create: 'Create a key',
    creating: 'Creating a key …',
    once: 'The key is shown only once: copy it now.',
  },
  openUploads: {
    title: 'Uploads in progress',
    /** Follows the file's name. */
    one: (size: string, whole: string | undefined, expiry: string) =>
      `${size}${ofWhole(whole)}, ${expiry}`,
    cancelOne: (name: string) => `Cancel the upload of ${name}`,
    cancelling: 'Cancelling …',
  },
  uploads: {
    label: 'Uploads',
    more: (count: number) => counted(count, 'more file'),
    storedFile: 'Stored',
    ownFile: 'Yours',
    sizeAndDate: (size: string, when: string) => `${size}, changed ${when}`,
    decide: 'Decide',
    oneExists: (name: string) => `${named(name)} already exists. Replace it?`,
    someExist: (count: number) =>
      count === 1
        ? '1 of these files already exists. Replace it?'
        : `${number(count)} of these files already exist. Replace them?`,
    answerForAll: 'Your answer also applies to the files that follow.',
    replace: 'Replace',
    replaceAll: 'Replace all',
    keepBoth: 'Keep both',
    skip: 'Skip',
    skipAll: 'Skip all',
    decideEach: 'Decide each',
    uploaded: 'Uploaded',
    pause: 'Pause',
    continue: 'Continue',
    cancelAll: 'Cancel all',
    done: (count: number) => `${files(count)} uploaded.`,
    unreachable: 'The service cannot be reached. The upload continues by itself when it can.',
    offline: 'You are offline. The upload continues by itself when you are online.',
    paused: (count: number) => `Paused: ${files(count)} to go.`,
    failed: (count: number) => `${files(count)} not uploaded.`,
    waiting: (count: number) => `${files(count)} waiting for your answer.`,
    partWaiting: (done: number, count: number) =>
      `${files(done)} uploaded, ${number(count)} waiting for your answer.`,
    underWay: (count: number) => `Uploading ${files(count)} …`,
    preparing: (amount: string) => `${amount} · preparing`,
    pace: (amount: string, speed: string, left: string) =>
      `${amount} · ${speed} per second · ${left} left`,
    progressOf: (name: string) => `Progress of ${name}`,
    cancelOne: (name: string) => `Cancel ${name}`,
    interruptedOne: (name: string) =>
      `The upload of ${name} was interrupted. Choose the same files to continue.`,
    interrupted: (count: number) =>
      `The upload of ${files(count)} was interrupted. Choose the same files to continue.`,
    choose: 'Choose and continue',
    discard: 'Discard',
    filesToContinue: 'Files to continue with',
    otherFiles: 'None of these files is the interrupted one, or it has changed since.',
  },
  link: {
    ended:
      'This link has expired or was removed, or its address is incomplete. Ask the sender for ' +
      'another link.',
    opensNot:
      'The end of this address does not decrypt the file: it was cut off, or another file has ' +
      'replaced it since. Ask the sender for another link.',
    opening: 'Opening …',
    open: 'Open',
    password: 'Password of this link',
    wrongPassword:
      'The password is wrong. After ten wrong ones, it can be tried again only every six minutes.',
    opened: (size: string) =>
      `${size}. It was encrypted before it was sent, and is decrypted on this device: nobody in ` +
      'between can read it.',
    downloaded: 'Downloaded',
    download: 'Download',
    downloading: 'Downloading …',
    tooLargeAndIncomplete:
      'It is too large for this page, and its address is incomplete. Ask the sender for another link.',
    tooLarge: 'It is too large for this page. On a computer, the command efs downloads it:',
    encrypted: (size: string) =>
      `${size}, encrypted. The end of the address, after #, is missing, and without it this page ` +
      'cannot decrypt the file: ask the sender for the whole link. If you have an age identity ' +
      'for it, download the encrypted file.',
  },
};

export type Texts = typeof texts;
