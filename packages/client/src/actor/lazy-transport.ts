// The actor's transport, loaded with its first use, so that programs over HTTP never load the
// agent.

import { chunkBytesMax } from '../../../wire/src/limits.ts';
import { canisterAddress } from '../connection/canister-address.ts';
import { callBodyMsMax } from '../connection/transfer-window.ts';
import type { Transport } from '../connection/transport.ts';
import { type AdministrationOperations, administrationRows } from '../operations/administration.ts';
import { type Call, callsOf, type Operations, operationRows } from '../operations/table.ts';
import type { ActorConnection } from './connection.ts';

export interface LazyConnection extends Omit<ActorConnection, 'canisterId'> {
  /** Finds the id with the first call. */
  readonly canisterId: string | (() => Promise<string>);
}

export function lazyTransport(connection: LazyConnection): Transport {
  const { canisterId: id } = connection;
  let opened: Promise<Transport> | undefined;
  const openNow = async () => {
    const { openActorTransport } = await import('./transport.ts');
    return openActorTransport({ ...connection, canisterId: await (isFound(id) ? id : id()) });
  };
  const open = () => {
    opened ??= openNow();
    // If the network failed, the next call tries again.
    opened.catch(() => {
      opened = undefined;
    });
    return opened;
  };
  return {
    wholeFileBytesMax: chunkBytesMax,
    bodyMsMax: callBodyMsMax,
    line: connection.line,
    linkBase: isFound(id) ? canisterAddress({ ...connection, canisterId: id }) : '',
    readsByLinks: false,
    verifier: open,
    probe: async (bytes) => (await open()).probe(bytes),
    ...callsOf<Operations, unknown>(operationRows, callIn(open)),
    administration: callsOf<AdministrationOperations, unknown>(
      administrationRows,
      callIn(async () => (await open()).administration),
    ),
  };
}

function isFound(id: LazyConnection['canisterId']): id is string {
  return typeof id === 'string';
}

/** Returns a maker of calls that open their transport first. */
function callIn(open: () => Promise<unknown>) {
  return (_: unknown, name: string): Call =>
    async (argument, signal) => {
      const transport = (await open()) as Readonly<Record<string, Call>>;
      return transport[name]?.(argument, signal);
    };
}
