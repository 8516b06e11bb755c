// The header fields that are stored with a file and served with it, beside its type. Their values
// stand in one list, each at the place of its name; '' for none.

export const storedHeaderNames = [
  'Cache-Control',
  'Content-Disposition',
  'Content-Encoding',
  'Content-Language',
] as const;

/** Where in the list the value of Cache-Control is. */
export const cacheControlPlace = 0;

/** As many values as there are names. */
export type StoredHeaders = readonly string[];

export const noStoredHeaders: StoredHeaders = storedHeaderNames.map(() => '');
