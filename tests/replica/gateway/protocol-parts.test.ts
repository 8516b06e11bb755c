// The gateway's pure parts: Content-Range, envelope sizes, CORS defaults, error pages.

import { encode } from 'cborg';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseContentRange } from '../../../packages/replica/src/gateway/content-range.ts';
import { isPreflightAnswer, withCorsDefaults } from '../../../packages/replica/src/gateway/cors.ts';
import {
  envelopeBytes,
  queryResponseBytes,
} from '../../../packages/replica/src/gateway/envelope-size.ts';
import { errorBody } from '../../../packages/replica/src/gateway/error-pages.ts';
import {
  GatewayError,
  toGatewayError,
} from '../../../packages/replica/src/gateway/gateway-error.ts';

describe('parseContentRange()', () => {
  it('reads a valid header', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.nat(), (begin, length, after) => {
        const end = begin + length;
        const total = end + 1 + after;
        const parsed = parseContentRange(`bytes ${begin}-${end}/${total}`);
        expect(parsed).toEqual({ begin, end, total });
      }),
    );
  });

  it.each([
    '',
    'bytes 1-2/*',
    'bytes */5',
    'byte 1-2/3',
    'bytes 5-4/9',
    'bytes 0-9/9',
    'bytes 0-8/9x',
    'bytes -1-8/9',
    'bytes 0-8/9999999999999999999',
  ])('treats %j as malformed', (value) => {
    expect(parseContentRange(value)).toBeUndefined();
  });
});

describe('envelopeBytes()', () => {
  it('equals the length of the encoded envelope', () => {
    for (const argBytes of [0, 23, 24, 255, 256, 65_535, 65_536, 2_000_000]) {
      const content = {
        request_type: 'call',
        canister_id: new Uint8Array(10),
        method_name: 'http_request_update',
        arg: new Uint8Array(argBytes),
        sender: Uint8Array.of(4),
        ingress_expiry: BigInt(Date.now()) * 1_000_000n,
        nonce: new Uint8Array(16),
      };
      const shape = { method: 'http_request_update', canisterIdBytes: 10, argBytes };
      const expected = 3 + encode({ content }).length;
      expect(envelopeBytes({ kind: 'call', ...shape })).toBe(expected);
      const nonce = encode({ nonce: content.nonce }).length - 1;
      // `query` is one letter longer than `call`.
      expect(envelopeBytes({ kind: 'query', ...shape })).toBe(expected - nonce + 1);
    }
  });
});

describe('queryResponseBytes()', () => {
  it('is below the gateway limit for a reply of 3,140,000 bytes, and above it for one of 3 MiB', () => {
    expect(queryResponseBytes(3_140_000)).toBeLessThan(3_145_728);
    expect(queryResponseBytes(3_145_728)).toBeGreaterThan(3_145_728);
  });
});

describe('withCorsDefaults()', () => {
  it('adds only the headers that the canister omitted', () => {
    const headers = withCorsDefaults('GET', [['Access-Control-Allow-Origin', 'https://a.example']]);
    const origins = headers.filter(([name]) => /allow-origin$/i.test(name));
    expect(origins).toEqual([['Access-Control-Allow-Origin', 'https://a.example']]);
    const exposed = headers.find(([name]) => name === 'access-control-expose-headers');
    expect(exposed?.[1]).toContain('content-range');
  });

  it('lists methods and headers only for OPTIONS', () => {
    const names = (method: string) => withCorsDefaults(method, []).map(([name]) => name);
    expect(names('OPTIONS')).toContain('access-control-allow-methods');
    expect(names('OPTIONS')).not.toContain('access-control-expose-headers');
    expect(names('PUT')).not.toContain('access-control-allow-methods');
  });
});

describe('isPreflightAnswer()', () => {
  const good = {
    status: 204,
    headers: [['Access-Control-Max-Age', '1']],
    bodyBytes: 0,
  } as const;

  it('accepts an empty 2xx answer with a CORS header', () => {
    expect(isPreflightAnswer(good)).toBe(true);
  });

  it.each([{ status: 405 }, { bodyBytes: 1 }, { headers: [] }])(
    'refuses an answer with %j',
    (flaw) => {
      expect(isPreflightAnswer({ ...good, ...flaw })).toBe(false);
    },
  );
});

describe('errorBody()', () => {
  it('contains cause, description and reason', () => {
    const error = new GatewayError('BodyTooLarge', 'Too much "body".');
    expect(JSON.parse(new TextDecoder().decode(errorBody(error, undefined).body))).toEqual({
      error_type: 'client_body_too_large',
      description: 'The request is larger than the network accepts.',
      details: 'Too much "body".',
    });
    expect(error.status).toBe(413);
  });

  it('reports any other failure as internal', () => {
    const error = toGatewayError(new TypeError('x'));
    expect([error.status, error.code]).toEqual([500, 'InternalError']);
    expect(error.message).toContain('x');
  });
});
