// Finds the uploads that earlier pages have not completed.

import { cutShort } from './memory.ts';
import { leftOver } from './state.ts';

/** Called once per page, after the user has signed in. */
export async function lookForLeftOver(): Promise<void> {
  leftOver.value = await cutShort().catch(() => []);
}
