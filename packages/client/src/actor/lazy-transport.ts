// Transports that load when first used, so that programs over HTTP never load the agent.

import { chunkBytesMax } from '../../../wire/src/limits.ts';
import { canisterAddress } from '../connection/canister-address.ts';
import { onDemand } from '../connection/on-demand.ts';
import { callBodyMsMax } from '../connection/transfer-window.ts';
import type { Transport } from '../connection/transport.ts';
import { type AdministrationOperations, administrationRows } from '../operations/administration.ts';
import {
  type Call,
  type Calls,
  callsOf,
  type Operations,
  operationRows,
} from '../operations/table.ts';
import type { ActorConnection } from './connection.ts';

/** `findId` finds an unknown canister id with the first call. */
export function lazyTransport(
  connection: ActorConnection,
  findId?: () => Promise<string>,
): Transport {
  const open = onDemand(async () => {
    const { openActorTransport } = await import('./transport.ts');
    const canisterId = (await findId?.()) ?? connection.canisterId;
    return openActorTransport({ ...connection, canisterId });
  });
  return {
    wholeFileBytesMax: chunkBytesMax,
    bodyMsMax: callBodyMsMax,
    line: connection.line,
    linkBase: canisterAddress(connection),
    readsByLinks: false,
    opensWithBytes: false,
    hasOneRound: true,
    verifier: open,
    certifiedPage: undefined,
    probe: async (bytes) => (await open()).probe(bytes),
    ...lazyCalls(open),
    administration: callsOf<AdministrationOperations, unknown>(
      administrationRows,
      callIn(async () => (await open()).administration),
    ),
  };
}

/** Returns calls that open their transport first. */
export function lazyCalls(open: () => Promise<Calls<Operations>>): Calls<Operations> {
  return callsOf<Operations, unknown>(operationRows, callIn(open));
}

/** Returns a maker of calls that open their transport first. */
function callIn(open: () => Promise<unknown>) {
  return (_: unknown, name: string): Call =>
    async (argument, signal) => {
      const transport = (await open()) as Readonly<Record<string, Call>>;
      return transport[name]?.(argument, signal);
    };
}
