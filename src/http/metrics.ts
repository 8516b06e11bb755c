// GET of the metrics: `/metrics`, for Prometheus. A query answers: the response is one node's word.

import { familiesOf } from '../../packages/wire/src/metrics/families.ts';
import { contentTypes, formatFor, metricText } from '../../packages/wire/src/metrics/text.ts';
import { monitoredFigures } from '../domain/administration/monitored-figures.ts';
import { encodeUtf8 } from '../lib/text.ts';
import { bearerKey } from './bearer-key.ts';
import { type HttpResponse, header } from './message.ts';
import { uncached } from './respond.ts';
import type { Exchange } from './router.ts';

export function getMetrics({ stores, call, request, system }: Exchange): HttpResponse {
  const secret = bearerKey(request);
  const figures = monitoredFigures(stores, call, { secret, system: system() });
  const format = formatFor(header(request, 'accept'));
  return {
    status: 200,
    headers: [
      ['Content-Type', contentTypes[format]],
      uncached,
      ['Vary', 'Accept'],
      ['X-Content-Type-Options', 'nosniff'],
    ],
    body: encodeUtf8(metricText(familiesOf([figures]), format)),
  };
}
