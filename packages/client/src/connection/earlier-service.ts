// Whether a service is of version 0.1.0, which lacks some operations.

import { isStorageError } from '../storage-error.ts';
import type { Connection } from './connection.ts';
import type { Signal } from './transport.ts';

/** Codes with which version 0.1.0 refuses an unknown method, field or path. */
const refusalCodes: ReadonlySet<string> = new Set(['Rejected', 'Unsupported', 'InvalidArgument']);

/** Returns whether the service refused a request because it is of version 0.1.0; never throws. */
export async function isEarlierService(
  { transport }: Connection,
  refusal: unknown,
  signal: Signal,
): Promise<boolean> {
  if (!isStorageError(refusal) || !refusalCodes.has(refusal.code)) return false;
  return transport.status(undefined, signal).then(
    ({ version }) => version.startsWith('0.1.'),
    () => false,
  );
}
