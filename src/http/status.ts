// GET of the service's status: `/api/v1/status`. Everybody may read it.

import { statusOf } from '../domain/bucket-status.ts';
import type { HttpResponse } from './message.ts';
import { jsonResponse } from './respond.ts';
import type { Exchange } from './router.ts';

export function getStatus(exchange: Exchange): HttpResponse {
  const status = statusOf(exchange.stores, exchange.system());
  const response = jsonResponse(200, { ...status, cycles: Number(status.cycles) });
  return { ...response, headers: [...response.headers, ['Cache-Control', 'no-store']] };
}
