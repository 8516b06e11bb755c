// The area for dropped and pasted files, with buttons for choosing files.

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import {
  type ChosenFile,
  chosenFiles,
  droppedFiles,
} from '../../../packages/client/src/bytes/dropped-files.ts';
import { sentenceOf } from '../failures.ts';
import { texts } from '../language.ts';
import { tell } from '../notices.ts';
import { Icon } from '../parts/icon.tsx';
import type { Session } from '../session.ts';
import { pastedOf } from '../uploads/pasted.ts';

export interface Target {
  readonly session: Session;
  readonly bucket: string;
  readonly prefix: string;
}

function send({ session, bucket, prefix }: Target, chosen: readonly ChosenFile[]): void {
  const target = { storage: session.storage, bucket, path: prefix };
  import('../uploads/queue.ts')
    .then(({ addToFolder }) => addToFolder(target, chosen))
    .catch((error) => tell(sentenceOf(error), { isFailure: true }));
}

interface DropAreaProps {
  readonly target: Target;
  /** Whether the area takes no files now. */
  readonly isOff?: boolean;
  readonly children: ComponentChildren;
}

export function DropArea({ target, isOff, children }: DropAreaProps) {
  const isOver = useSignal(false);
  useEffect(() => {
    // Otherwise its code would wait behind the bytes of the first upload on a slow line.
    if (!isOff) void import('./upload-panel.tsx').catch(() => {});
  }, [isOff]);
  useEffect(() => {
    const paste = (event: ClipboardEvent) => {
      const files = pastedOf(event.clipboardData);
      const isInField = (event.target as Element).closest('input, textarea, dialog') !== null;
      if (isOff || files.length === 0 || isInField) return;
      event.preventDefault();
      send(target, files);
    };
    document.addEventListener('paste', paste);
    return () => document.removeEventListener('paste', paste);
  }, [isOff, target.session, target.bucket, target.prefix]);
  const over = (event: DragEvent) => {
    if (isOff || !event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    isOver.value = true;
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    isOver.value = false;
    if (event.dataTransfer) void droppedFiles(event.dataTransfer).then((all) => send(target, all));
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the buttons do the same by keyboard.
    <div
      class={isOver.value ? 'drop over' : 'drop'}
      onDragOver={over}
      onDragLeave={() => {
        isOver.value = false;
      }}
      onDrop={drop}
    >
      {children}
      {isOver.value && (
        <p class="drop-hint">{texts().files.drop(`${target.bucket}/${target.prefix}`)}</p>
      )}
    </div>
  );
}

export function UploadButtons({ target }: { target: Target }) {
  const { files } = texts();
  return (
    <>
      <ChooseFiles label={files.upload} target={target} />
      <ChooseFiles label={files.uploadFolder} isFolder target={target} />
    </>
  );
}

interface ChooseProps {
  readonly label: string;
  readonly target: Target;
  readonly isFolder?: boolean;
  /** Another button is the main one. */
  readonly isPlain?: boolean;
}

export function ChooseFiles({ label, target, isFolder = false, isPlain = false }: ChooseProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button
        type="button"
        class={isFolder ? 'wide-only' : isPlain ? undefined : 'main'}
        onClick={() => input.current?.click()}
      >
        <Icon name={isFolder ? 'newFolder' : 'upload'} />
        {label}
      </button>
      <input
        ref={input}
        type="file"
        hidden
        multiple
        {...(isFolder && { webkitdirectory: true })}
        aria-label={label}
        onChange={({ currentTarget }) => {
          send(target, chosenFiles(currentTarget.files ?? []));
          currentTarget.value = '';
        }}
      />
    </>
  );
}
