// What the page begins with.

import { signal } from '@preact/signals';

/** Until it is known whether somebody is signed in. */
export const isStarting = signal(true);

/** Of the address, for the form where it did not do. */
export const offeredKey = signal<{ readonly apiKey: string; readonly bucket: string } | undefined>(
  undefined,
);
