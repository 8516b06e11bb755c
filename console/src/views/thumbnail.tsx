// A thumbnail in place of a file's icon, if there is one.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Storage } from '../../../packages/client/src/storage.ts';
import type { FileRecord } from '../../../packages/client/src/types/files.ts';
import { mayHaveThumbnail } from '../files/pictures.ts';
import { Icon, type IconName } from '../parts/icon.tsx';

interface ThumbnailProps {
  readonly storage: Storage;
  readonly file: FileRecord | undefined;
  /** Icon while there is no picture. */
  readonly icon: IconName;
}

/** Has no accessible name, because the file's name stands beside it. */
export function Thumbnail({ storage, file, icon }: ThumbnailProps) {
  const address = useSignal<string | undefined>(undefined);
  useEffect(() => {
    if (file === undefined || !mayHaveThumbnail(file)) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    const onMade = (made: string) => {
      address.value = made;
    };
    import('../files/thumbnails.ts').then(
      ({ wishThumbnail }) => wishThumbnail({ storage, file, signal, onMade }),
      () => {},
    );
    return () => controller.abort();
  }, [file?.etag]);
  return (
    <span class="thumbnail">
      {address.value ? <img src={address.value} alt="" /> : <Icon name={icon} />}
    </span>
  );
}
