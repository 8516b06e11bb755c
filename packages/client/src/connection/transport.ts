// The interface that all transports implement: HTTP through a gateway, and calls through the agent.

import type { AdministrationOperations } from '../operations/administration.ts';
import type { Calls, Operations } from '../operations/table.ts';
import type { Line } from './transfer-window.ts';

export type Signal = AbortSignal | undefined;

export type Administration = Calls<AdministrationOperations>;

/** Each call makes one attempt at one request, and throws a StorageError. */
export interface Transport extends Calls<Operations> {
  readonly line: Line;
  /** Sends a request of 8,192 bytes or more that a query answers, to measure the line. */
  probe(bytes: number): Promise<void>;
  /** Files up to this size are sent in one request. */
  readonly wholeFileBytesMax: number;
  /** Gateways refuse a body that takes longer to arrive. */
  readonly bodyMsMax: number;
  /** The address that link paths are appended to, without a final slash; '' if unknown. */
  readonly linkBase: string;
  /** Private files are downloaded through temporary links, so that responses are certified. */
  readonly readsByLinks: boolean;
  /** `openFile` can return the first chunk, so that a small file takes one request. */
  readonly opensWithBytes: boolean;
  /** Whether it has the operation `uploadChunk`. */
  readonly hasOneRound: boolean;
  /**
   * Returns the front's page for links as the service certifies it, `…/s/` without the volume at an
   * earlier service; undefined where the network signs the reply that names the page.
   */
  readonly certifiedPage: ((signal: Signal) => Promise<string | undefined>) | undefined;
  /**
   * Returns the transport through the actor, whose update replies the network signs; absent if only
   * HTTP is used.
   */
  readonly verifier?: (() => Promise<Transport>) | undefined;
  /** Absent over HTTP. */
  readonly administration: Administration | undefined;
}
