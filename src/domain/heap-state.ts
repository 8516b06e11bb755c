// What is on the heap alone, beside secrets: gone with an upgrade, and nothing is lost by that.

export interface HeapState {
  /** How many updates without a key are left, and when that was counted. */
  anonymousUpdates: { readonly left: number; readonly atNs: bigint } | undefined;
  /** Contents that are being read by streams, and until when. */
  readonly streams: Map<number, bigint>;
}

export function createHeapState(): HeapState {
  return { anonymousUpdates: undefined, streams: new Map() };
}
