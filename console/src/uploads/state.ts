// The state of this page's uploads. Their code is loaded when a user may upload.

import { signal } from '@preact/signals';
import type { UploadItem } from './item.ts';
import type { KeptUpload } from './memory.ts';

export type QueueState = 'idle' | 'sending' | 'paused' | 'unreachable';

export const queueState = signal<QueueState>('idle');
/** Replaced a few times per second during uploads. */
export const uploads = signal<readonly UploadItem[]>([]);
/** Interrupted uploads of closed pages. */
export const leftOver = signal<readonly KeptUpload[]>([]);
