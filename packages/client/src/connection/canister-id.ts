// Canister ids in addresses. The owner of any other domain could choose an id and so receive signed
// calls, so only a valid id below a known gateway counts. Imports the principal library; modules
// that every program loads must import this file dynamically.

import { Principal } from '@icp-sdk/core/principal';
import { gatewayDomains } from '../../../wire/src/gateways.ts';

/** Returns the canister id in `<canister id>.<gateway>`; undefined for every other address. */
export function canisterIdIn(url: string): string | undefined {
  const [label = '', ...parent] = new URL(url).hostname.split('.');
  return isCanisterId(label) && isGateway(parent.join('.')) ? label : undefined;
}

function isGateway(name: string): boolean {
  return name === 'localhost' || gatewayDomains.some((domain) => domain === name);
}

/** Principals carry a checksum (IC specification, "Textual representation of principals"). */
export function isCanisterId(text: string): boolean {
  try {
    return Principal.fromText(text).toText() === text;
  } catch {
    return false;
  }
}
