// The dialog that opens a new folder. The service stores no folders, only paths of files.

import { useSignal } from '@preact/signals';
import { Dialog } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { go } from '../route.ts';
import type { Target } from './drop-area.tsx';

export function NewFolderDialog({ target, onClose }: { target: Target; onClose(): void }) {
  const { bucket, prefix } = target;
  const name = useSignal('');
  const submit = (event: Event) => {
    event.preventDefault();
    const segments = name.value.split('/').map((segment) => segment.trim());
    const folder = segments.filter((segment) => segment !== '').join('/');
    onClose();
    if (folder !== '') go({ view: 'files', bucket, prefix: `${prefix}${folder}/` });
  };
  return (
    <Dialog title="New folder" onClose={onClose}>
      <form onSubmit={submit}>
        <Field
          label="Name of the folder"
          value={name}
          isFirst
          isRequired
          hint="The folder is stored with its first file."
        />
        <div class="buttons">
          <button type="submit" class="main">
            Open the folder
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}
