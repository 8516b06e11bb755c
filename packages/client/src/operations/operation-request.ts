// The HTTP request of an operation, without the service's address, the key and the signal.

export interface OperationRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: Uint8Array | Blob | string;
  /** The response has no JSON. */
  readonly isBare?: boolean;
  /** Receives the number of the body's bytes that have been sent. */
  readonly onSent?: ((bytes: number) => void) | undefined;
}

type RequestHeaders = OperationRequest['headers'];
type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Appends the defined values as a query. */
export function withQuery(path: string, values: Query): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) query.set(name, String(value));
  }
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}

export function getting(path: string, query: Query = {}): OperationRequest {
  return { method: 'GET', path: withQuery(path, query) };
}

export function posting(
  path: string,
  json: object,
  headers: RequestHeaders = {},
): OperationRequest {
  const typed = { ...headers, 'Content-Type': 'application/json' };
  return { method: 'POST', path, headers: typed, body: JSON.stringify(json) };
}

export function removing(path: string, headers: RequestHeaders = {}): OperationRequest {
  return { method: 'DELETE', path, headers, isBare: true };
}

/** Converts a page of the JSON interface, whose last page has the cursor null. */
export function pageOf<Item>({
  items,
  nextCursor,
}: {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}) {
  return { items, nextCursor: nextCursor ?? undefined };
}
