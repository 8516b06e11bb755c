// The actions for the selected files: their bar, their menu, and their dialogs.

import type { Signal } from '@preact/signals';
import { isSealed } from '../files/sealed.ts';
import { texts } from '../language.ts';
import { deferred } from '../parts/deferred.tsx';
import { Icon } from '../parts/icon.tsx';
import { nameOf } from '../words.ts';
import { ActionButtons, RowMenu } from './row-menu.tsx';
import { useActions } from './selection-actions.ts';
import type { Action, MenuPlace, SelectionProps } from './selection-props.ts';

const DeleteDialog = deferred(async () => (await import('./delete-dialog.tsx')).DeleteDialog);
const MoveDialog = deferred(async () => (await import('./move-dialog.tsx')).MoveDialog);
const ShareDialog = deferred(async () => (await import('./share-dialog.tsx')).ShareDialog);

interface BarProps extends SelectionProps {
  readonly action: Signal<Action | undefined>;
  /** The place of the open menu. */
  readonly menu: Signal<MenuPlace | undefined>;
}

export function SelectionBar({ action, menu, ...props }: BarProps) {
  const { entries, selection } = props;
  const offered = useActions(props, action);
  const close = () => {
    action.value = undefined;
  };
  if (entries.length === 0) return null;
  const { selection: words } = texts();
  return (
    <section class="selection" aria-label={words.label}>
      <p role="status" dir="auto">
        {entries.length === 1 ? nameOf(entries[0]?.path ?? '') : words.count(entries.length)}
      </p>
      <div class="buttons">
        <ActionButtons actions={offered} />
      </div>
      {/* On a phone, whose width the actions exceed in some languages */}
      <button
        type="button"
        class="narrow-only"
        aria-haspopup="menu"
        onClick={({ currentTarget }) => {
          const { left, bottom: top } = currentTarget.getBoundingClientRect();
          menu.value = { left, top };
        }}
      >
        {texts().grid.actions}
      </button>
      <button
        type="button"
        class="plain"
        aria-label={words.clear}
        title={words.clear}
        onClick={selection.clear}
      >
        <Icon name="close" />
      </button>
      {menu.value && (
        <RowMenu
          place={menu.value}
          actions={offered}
          onClose={() => {
            menu.value = undefined;
          }}
        />
      )}
      {action.value === 'delete' && <DeleteDialog {...props} onClose={close} />}
      {action.value === 'share' && (
        <ShareDialog
          target={props.target}
          path={entries[0]?.path ?? ''}
          isSealed={entries[0]?.file !== undefined && isSealed(entries[0].file)}
          onClose={close}
        />
      )}
      {(action.value === 'move' || action.value === 'copy') && (
        <MoveDialog {...props} kind={action.value} onClose={close} />
      )}
    </section>
  );
}
