// The entry point of the package: importing it defines the elements. See README.md.

import { EfsFile } from './file-element.ts';
import { EfsGallery } from './gallery-element.ts';
import type { GalleryFile } from './gallery-list.ts';
import { EfsUpload } from './upload-element.ts';
import type { UploadItem } from './upload-queue.ts';

export type { GalleryFile, GallerySort } from './gallery-list.ts';
export type { FileTexts, GalleryTexts, UploadLimits, UploadTexts } from './texts.ts';
export type { UploadItem, UploadState } from './upload-queue.ts';
export { EfsFile, EfsGallery, EfsUpload };

const classes = { 'efs-upload': EfsUpload, 'efs-gallery': EfsGallery, 'efs-file': EfsFile };

// A page may contain the package twice, and a server that renders pages has no elements.
for (const [name, Class] of Object.entries(classes)) {
  const { customElements } = globalThis;
  if (customElements && !customElements.get(name)) customElements.define(name, Class);
}

declare global {
  interface HTMLElementTagNameMap {
    'efs-upload': EfsUpload;
    'efs-gallery': EfsGallery;
    'efs-file': EfsFile;
  }

  interface HTMLElementEventMap {
    'efs-upload-progress': CustomEvent<UploadItem>;
    'efs-upload-done': CustomEvent<UploadItem>;
    'efs-upload-error': CustomEvent<UploadItem>;
    'efs-upload-complete': CustomEvent<{ readonly files: readonly UploadItem[] }>;
    'efs-gallery-open': CustomEvent<GalleryFile>;
    'efs-gallery-folder': CustomEvent<{ readonly path: string }>;
    'efs-gallery-load': CustomEvent<{ readonly count: number }>;
    'efs-gallery-error': CustomEvent<{ readonly code: string; readonly message: string }>;
    'efs-file-load': CustomEvent<{ readonly name: string; readonly type: string }>;
    'efs-file-error': CustomEvent<{ readonly message: string; readonly reason: string }>;
  }
}
