// The length of the parts of an upload. A gateway accepts the body of a request for 60 s, so a slow
// line needs shorter parts. All files of an element share a line.

import { chunkBytesMax, chunkBytesMin, joinedPartsMax } from '../../wire/src/limits.ts';

/** A line that sends a part in this time is fast enough for longer ones. */
const shortMs = 10_000;

export class PartLength {
  #bytes = chunkBytesMax;

  /** The first part determines the chunks of the stored file, and gateways join few of them. */
  of(fileBytes: number): number {
    return Math.min(chunkBytesMax, Math.max(this.#bytes, Math.ceil(fileBytes / joinedPartsMax)));
  }

  /** Notes a part that was stored. */
  passed(milliseconds: number): void {
    if (milliseconds < shortMs) this.#bytes = Math.min(chunkBytesMax, 2 * this.#bytes);
  }

  /** Notes a part that the line did not bring in time. */
  failed(): void {
    this.#bytes = Math.max(chunkBytesMin, Math.floor(this.#bytes / 2));
  }
}
