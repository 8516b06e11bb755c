// Canister ids in addresses. A mistaken id would send signed calls to whoever owns the rest of the
// name, so only a valid id below a known gateway counts. Imports the library of principals:
// modules that every program loads must import this one when they need it.

import { Principal } from '@icp-sdk/core/principal';
import { gatewayDomains } from '../../../wire/src/gateways.ts';

/** The canister id in `<canister id>.<gateway>`; undefined for every other address. */
export function canisterIdIn(url: string): string | undefined {
  const [label = '', ...parent] = new URL(url).hostname.split('.');
  return isCanisterId(label) && isGateway(parent.join('.')) ? label : undefined;
}

function isGateway(name: string): boolean {
  return name === 'localhost' || gatewayDomains.some((domain) => domain === name);
}

/** Principals carry a checksum (IC specification, "Textual representation of principals"). */
function isCanisterId(text: string): boolean {
  try {
    return Principal.fromText(text).toText() === text;
  } catch {
    return false;
  }
}
