// Before the tests: the canister's Wasm is built and deployed once, unless that is up to date.

import { prepareState } from './prepared-state.ts';

export default async function setup(): Promise<void> {
  await prepareState();
}
