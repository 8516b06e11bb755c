// Actions for the selected files: a bar that is shown while files are selected, and the dialogs.

import type { Signal } from '@preact/signals';
import { isSealed } from '../files/sealed.ts';
import { texts } from '../language.ts';
import { deferred } from '../parts/deferred.tsx';
import { nameOf } from '../words.ts';
import type { OfferedAction } from './selection-actions.ts';
import type { Action, MenuPlace, SelectionProps } from './selection-props.ts';

const DeleteDialog = deferred(async () => (await import('./delete-dialog.tsx')).DeleteDialog);
const MoveDialog = deferred(async () => (await import('./move-dialog.tsx')).MoveDialog);
const ShareDialog = deferred(async () => (await import('./share-dialog.tsx')).ShareDialog);

interface BarProps extends SelectionProps {
  readonly action: Signal<Action | undefined>;
  readonly offered: readonly OfferedAction[];
  onMenu(place: MenuPlace): void;
}

/** In a menu, each button has the role `menuitem`. */
export function ActionButtons(props: { actions: readonly OfferedAction[]; role?: 'menuitem' }) {
  return props.actions.map(({ label, isDanger, isUnderWay, run }) => (
    <button
      key={label}
      type="button"
      role={props.role}
      class={isDanger ? 'danger' : undefined}
      disabled={isUnderWay}
      onClick={run}
    >
      {label}
    </button>
  ));
}

export function SelectionBar({ action, offered, onMenu, ...props }: BarProps) {
  const { entries, selection } = props;
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
          onMenu({ left, top });
        }}
      >
        {texts().grid.actions}
      </button>
      <button type="button" class="plain" onClick={selection.clear}>
        {words.clear}
      </button>
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
