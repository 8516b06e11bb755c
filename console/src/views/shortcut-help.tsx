// The list of keyboard shortcuts.

import { texts } from '../language.ts';
import { Dialog } from '../parts/dialog.tsx';

export function ShortcutHelp({ onClose }: { onClose(): void }) {
  const { shortcuts } = texts();
  return (
    <Dialog title={shortcuts.title} onClose={onClose}>
      <dl class="shortcuts">
        {shortcuts.rows.map(([keys, meaning]) => (
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
