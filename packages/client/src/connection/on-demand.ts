// Resources that open with their first use.

/** Opens once, with the first call; if that failed, the next call tries again. */
export function onDemand<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined;
  return () => {
    opened ??= open().catch((error) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
}
