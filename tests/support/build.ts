// Before the tests: the canister's Wasm is built, unless it is up to date.

import { buildCanister } from '../../scripts/build.ts';

export default async function setup(): Promise<void> {
  await buildCanister({ force: false });
}
