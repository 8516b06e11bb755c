// The state of the page's start.

import { signal } from '@preact/signals';

/** True until the page knows whether a user is signed in. */
export const isStarting = signal(true);

/** The key from the address, which prefills the sign-in form if the page could not use it. */
export const offeredKey = signal<{ readonly apiKey: string; readonly bucket: string } | undefined>(
  undefined,
);
