// GET of the service's status: `/api/v1/status`. Everybody may read it.

import { statusOf } from '../domain/administration/bucket-status.ts';
import type { HttpResponse } from './message.ts';
import { jsonResponse } from './respond.ts';
import type { Exchange } from './router.ts';

export function getStatus(exchange: Exchange): HttpResponse {
  // The canister does not know a caller over HTTP, so the answer says nothing about cycles.
  const status = statusOf(exchange.stores, exchange.call, exchange.system());
  const { cycles: _, chargesCycles: __, storageReservation: ___, role, ...rest } = status;
  const { id: ____, ...shownRole } = role;
  const response = jsonResponse(200, { ...rest, role: shownRole });
  return { ...response, headers: [...response.headers, ['Cache-Control', 'no-store']] };
}
