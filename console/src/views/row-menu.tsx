// The menu of a row: right click, long press, Shift+F10 or the menu key. Offers the actions of the
// selected entries, which include the row.

import { useEffect, useRef } from 'preact/hooks';
import { texts } from '../language.ts';
import type { OfferedAction } from './selection-actions.ts';
import type { MenuPlace } from './selection-props.ts';

interface RowMenuProps {
  readonly place: MenuPlace;
  readonly actions: readonly OfferedAction[];
  onClose(): void;
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

export function RowMenu({ place, actions, onClose }: RowMenuProps) {
  const menu = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const { current: element } = menu;
    if (element === null) return undefined;
    element.showModal();
    // Inline styles are forbidden in the page's source, but not to its script.
    const { width, height } = element.getBoundingClientRect();
    element.style.left = `${Math.max(0, Math.min(place.left, innerWidth - width))}px`;
    element.style.top = `${Math.max(0, Math.min(place.top, innerHeight - height))}px`;
    element.querySelector('button')?.focus();
    return () => element.close();
  }, []);
  const press = (event: KeyboardEvent) => {
    event.stopPropagation();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const buttons = [...(menu.current?.querySelectorAll('button') ?? [])];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    buttons[(at + step + buttons.length) % buttons.length]?.focus();
  };
  return (
    <dialog
      ref={menu}
      class="menu"
      aria-label={texts().grid.actions}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onKeyDown={press}
      // The backdrop belongs to the dialog: a click beside the buttons closes it.
      onClick={onClose}
    >
      <div role="menu">
        <ActionButtons actions={actions} role="menuitem" />
      </div>
    </dialog>
  );
}
