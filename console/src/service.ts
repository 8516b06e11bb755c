// The service that this page was served by: its canister, and where its agent's endpoints are.

import {
  isLoopback,
  networkAgentHost,
} from '../../packages/client/src/connection/canister-address.ts';
import { findCanister } from '../../packages/client/src/connection/find-canister.ts';

export function isLocal(): boolean {
  return isLoopback(location.origin);
}

export function serviceHost(): string {
  return isLocal() ? location.origin : networkAgentHost;
}

let found: Promise<string> | undefined;

export function thisCanister(): Promise<string> {
  found ??= findCanister(location.origin);
  found.catch(() => {
    found = undefined;
  });
  return found;
}
