// The transport through actor calls. The agent verifies all responses except chunks, which the
// file's digest verifies. Imports the agent; lazy-transport.ts loads this file with the first use.

import { chunkBytesMax } from '../../../wire/src/limits.ts';
import { canisterAddress } from '../connection/canister-address.ts';
import { callBodyMsMax } from '../connection/transfer-window.ts';
import type { Transport } from '../connection/transport.ts';
import type { AdministrationOperations } from '../operations/administration.ts';
import type { Operations } from '../operations/table.ts';
import { callsWith } from './actor-call.ts';
import { administrationCalls } from './administration.ts';
import { type ActorConnection, openService, type Service } from './connection.ts';
import { fileCalls } from './files.ts';
import { linkCalls } from './links.ts';
import { listingCalls } from './listings.ts';
import { retentionCalls } from './retention.ts';
import { serviceCalls } from './service.ts';
import { thumbnailCalls } from './thumbnails.ts';
import { transferCalls } from './transfers.ts';
import { uploadLinkCalls } from './upload-links.ts';
import { uploadCalls } from './uploads.ts';
import { versionCalls } from './versions.ts';

const operationCalls = {
  ...fileCalls,
  ...linkCalls,
  ...uploadLinkCalls,
  ...listingCalls,
  ...retentionCalls,
  ...thumbnailCalls,
  ...serviceCalls,
  ...transferCalls,
  ...uploadCalls,
  ...versionCalls,
};

export async function openActorTransport(connection: ActorConnection): Promise<Transport> {
  const service = await openService(connection);
  return {
    wholeFileBytesMax: chunkBytesMax,
    bodyMsMax: callBodyMsMax,
    line: connection.line,
    linkBase: canisterAddress(connection),
    readsByLinks: false,
    opensWithBytes: false,
    hasOneRound: true,
    certifiedPage: undefined,
    probe: (bytes) => probe(service, bytes),
    ...callsWith<Operations>(service, operationCalls),
    administration: callsWith<AdministrationOperations>(service, administrationCalls),
  };
}

/** Measures the line by a query of a missing method, which fails once the bytes have arrived. */
async function probe({ bulkAgent, canisterId }: Service, bytes: number): Promise<void> {
  await bulkAgent().query(canisterId, { methodName: 'measureLine', arg: new Uint8Array(bytes) });
}
