// The list of keyboard shortcuts.

import { Dialog } from '../parts/dialog.tsx';

const shortcuts = [
  ['↑ ↓', 'move through the files; with Shift, select them'],
  ['Space', 'select'],
  ['Enter', 'open'],
  ['Ctrl A', 'select all'],
  ['F2', 'rename the selected file'],
  ['Delete', 'delete the selected files'],
  ['Escape', 'clear the selection'],
  ['/', 'go to the filter'],
  ['?', 'this help'],
] as const;

export function ShortcutHelp({ onClose }: { onClose(): void }) {
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl class="shortcuts">
        {shortcuts.map(([keys, meaning]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
