// The actions for the shown folder: buttons above the list, and a menu on a phone.

import { useSignal } from '@preact/signals';
import { arePicturesShown, togglePictures } from '../files/pictures.ts';
import { texts } from '../language.ts';
import { deferred } from '../parts/deferred.tsx';
import { Icon, type IconName } from '../parts/icon.tsx';
import type { Rights } from './bucket-role.ts';
import { type Target, UploadButtons } from './drop-area.tsx';
import type { MenuPlace } from './selection-props.ts';

const NewFolderDialog = deferred(
  async () => (await import('./new-folder-dialog.tsx')).NewFolderDialog,
);
const DropBoxDialog = deferred(async () => (await import('./drop-box-dialog.tsx')).DropBoxDialog);
const FolderLinkDialog = deferred(
  async () => (await import('./drop-box-dialog.tsx')).FolderLinkDialog,
);
const RowMenu = deferred(async () => (await import('./row-menu.tsx')).RowMenu);

interface FolderAction {
  readonly label: string;
  /** Stands for the label on a button. */
  readonly icon?: IconName;
  run(): void;
}

/** Returns the actions that the role permits, and the dialog that one of them has opened. */
export function useFolderActions(target: Target, rights: Rights) {
  const opened = useSignal<'folder' | 'dropBox' | 'link' | undefined>(undefined);
  const { files: words } = texts();
  const open = (next: typeof opened.value) => () => {
    opened.value = next;
  };
  const actions: FolderAction[] = [
    ...(rights.mayWrite ? [{ label: words.newFolder, run: open('folder') }] : []),
    ...(rights.isOwner
      ? [
          { label: words.receive, run: open('dropBox') },
          { label: words.shareFolder, run: open('link') },
        ]
      : []),
    {
      label: arePicturesShown.value ? words.noPictures : words.pictures,
      icon: 'image',
      run: togglePictures,
    },
  ];
  const dialog = (
    <>
      {opened.value === 'folder' && <NewFolderDialog target={target} onClose={open(undefined)} />}
      {opened.value === 'dropBox' && <DropBoxDialog target={target} onClose={open(undefined)} />}
      {opened.value === 'link' && <FolderLinkDialog target={target} onClose={open(undefined)} />}
    </>
  );
  return { actions, dialog };
}

interface FolderToolsProps {
  readonly target: Target;
  readonly mayWrite: boolean;
  readonly actions: readonly FolderAction[];
}

export function FolderTools({ target, mayWrite, actions }: FolderToolsProps) {
  return (
    <div class="tools buttons">
      {mayWrite && <UploadButtons target={target} />}
      {actions.map(({ label, icon, run }) => (
        <button
          key={label}
          type="button"
          class="wide-only"
          aria-label={label}
          title={icon && label}
          onClick={run}
        >
          {icon ? <Icon name={icon} /> : label}
        </button>
      ))}
    </div>
  );
}

/** The menu of the same actions on a phone. */
export function FolderMenu({ actions }: { actions: readonly FolderAction[] }) {
  const place = useSignal<MenuPlace | undefined>(undefined);
  return (
    <>
      <button
        type="button"
        class="plain narrow-only"
        aria-label={texts().files.more}
        aria-haspopup="menu"
        onClick={({ currentTarget }) => {
          const { left, bottom: top } = currentTarget.getBoundingClientRect();
          place.value = { left, top };
        }}
      >
        <Icon name="more" />
      </button>
      {place.value && (
        <RowMenu
          place={place.value}
          actions={actions}
          onClose={() => {
            place.value = undefined;
          }}
        />
      )}
    </>
  );
}
