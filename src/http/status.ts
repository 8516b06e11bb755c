// GET of the service's status: `/api/v1/status`. Everybody may read it.

import { statusOf } from '../domain/administration/bucket-status.ts';
import type { HttpResponse } from './message.ts';
import { jsonResponse } from './respond.ts';
import type { Exchange } from './router.ts';

export function getStatus(exchange: Exchange): HttpResponse {
  // The canister does not know a caller over HTTP, so the answer omits cycles.
  const { cycles: _, role, ...rest } = statusOf(exchange.stores, exchange.call, exchange.system());
  const { id: __, ...shownRole } = role;
  const status = { ...rest, role: shownRole };
  const response = jsonResponse(200, status);
  return { ...response, headers: [...response.headers, ['Cache-Control', 'no-store']] };
}
