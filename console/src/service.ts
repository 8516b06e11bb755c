// The service that this page was served by: its canister, and where its agent's endpoints are.

import { findCanister } from '../../packages/client/src/canister-address.ts';

export function isLocal(): boolean {
  return /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/.test(location.hostname);
}

export function serviceHost(): string {
  return isLocal() ? location.origin : 'https://icp-api.io';
}

let found: Promise<string> | undefined;

export function thisCanister(): Promise<string> {
  found ??= findCanister(location.origin);
  found.catch(() => {
    found = undefined;
  });
  return found;
}
