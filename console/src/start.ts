// The start of the page.

import { signal } from '@preact/signals';

/** Until it is known whether somebody is signed in. */
export const isStarting = signal(true);

/** The key from the address, for the form if signing in with it failed. */
export const offeredKey = signal<{ readonly apiKey: string; readonly bucket: string } | undefined>(
  undefined,
);
