// Builds the canister's Wasm and deploys it once before the tests, unless both are up to date.

import { prepareState } from './prepared-state.ts';

export default async function setup(): Promise<void> {
  await prepareState();
}
