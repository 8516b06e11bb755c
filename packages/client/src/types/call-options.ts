// The options that every operation takes.

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}
