// Speeds up the official agents, which verify a BLS signature in 54 ms of pure JavaScript: a sixth
// of the tests' processor time. A key has exactly one valid signature of a message, and the replica
// in the same process publishes its signatures. An agent accepts these by comparison and verifies
// all others itself. `tests/client/agent-verification.test.ts` runs agents without this.

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import * as former from '@dfinity/agent';
import * as current from '@icp-sdk/core/agent';
import {
  type SignedStateRoot,
  signedStateRoots,
} from '../../packages/replica/src/state/subnet-key.ts';

interface CertificateOptions {
  readonly blsVerify?: unknown;
}

/** The class `Certificate` of either agent. */
interface CertificateClass {
  create(options: CertificateOptions): Promise<unknown>;
}

const classes = [current.Certificate, former.Certificate] as unknown as CertificateClass[];
const known = new Set<string>();
let isInstalled = false;

function nameOf(publicKey: Uint8Array, signature: Uint8Array, message: Uint8Array): string {
  return Buffer.concat([publicKey, signature, message]).toString('latin1');
}

function remember(signed: unknown): void {
  const { publicKey, signature, message } = signed as SignedStateRoot;
  known.add(nameOf(publicKey, signature, message));
}

/** Makes the agents of this process accept the known signatures; a second call does nothing. */
export function acceptKnownSignatures(): void {
  if (isInstalled) return;
  isInstalled = true;
  subscribe(signedStateRoots.name, remember);
  for (const certificates of classes) {
    const { create } = certificates;
    certificates.create = (options) => createIfKnown(create, options);
  }
}

async function createIfKnown(
  create: CertificateClass['create'],
  options: CertificateOptions,
): Promise<unknown> {
  let isUnknown = false;
  const blsVerify = (...signed: Parameters<typeof nameOf>) => {
    isUnknown = !known.has(nameOf(...signed));
    return !isUnknown;
  };
  try {
    return await create({ ...options, blsVerify });
  } catch (error) {
    if (!isUnknown) throw error;
    return create(options);
  }
}

/** Makes agents verify every signature themselves until `acceptAgain()`. */
export function acceptNone(): void {
  unsubscribe(signedStateRoots.name, remember);
  known.clear();
}

export function acceptAgain(): void {
  unsubscribe(signedStateRoots.name, remember);
  subscribe(signedStateRoots.name, remember);
}
