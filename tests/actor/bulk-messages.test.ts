// The hand-written codecs of messages, compared with the official library.

import { IDL } from '@dfinity/candid';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { HttpRequest, HttpResponse, HttpUpdateRequest } from '../../src/actor/candid/http.ts';
import * as messages from '../../src/actor/messages/bulk-messages.ts';
import { encodeResponse } from '../../src/actor/messages/bulk-messages.ts';
import { requestHeaderCountMax } from '../../src/limits.ts';
import { installNodeText } from '../support/memory-stores.ts';

beforeAll(installNodeText);

// Bounds have tests of their own.
const bounds = { bytes: 10_000_000, textBytes: 10_000_000, values: 100_000 };
const decodeRequest = (bytes: Uint8Array) => messages.decodeRequest(bytes, bounds);
const decodeChunk = (bytes: Uint8Array) => messages.decodeChunk(bytes, bounds);

// Node's TextDecoder, which the library uses, drops a byte order mark; our decoder keeps every
// character.
const text = fc.string({ unit: 'binary' }).map(withoutMark);

function withoutMark(value: string): string {
  return value.replace(/^\ufeff/, '');
}

// The library requires objects with a prototype.
const requests = fc.record(
  {
    method: text,
    url: text,
    headers: fc.array(fc.tuple(text, text), { maxLength: 20 }),
    body: fc.uint8Array({ maxLength: 300 }),
    certificate_version: fc.constantFrom([], [2], [65_535]),
  },
  { noNullPrototype: true },
);

/** Returns the decoded value; every error counts as the same value. */
function outcome(decode: () => unknown): unknown {
  try {
    return decode();
  } catch {
    return 'refused';
  }
}

function relevant(request: unknown): unknown {
  if (request === 'refused') return request;
  const { method, url, headers, body } = request as Record<string, unknown>;
  const pairs = (headers as string[][]).map((pair) => pair.map(withoutMark));
  return {
    method: withoutMark(method as string),
    url: withoutMark(url as string),
    headers: pairs,
    body: Buffer.from(body as Uint8Array).toString('hex'),
  };
}

describe('decodeRequest()', () => {
  test('returns the encoded request, with and without a certificate version', () => {
    fc.assert(
      fc.property(requests, (request) => {
        for (const type of [HttpRequest, HttpUpdateRequest]) {
          const bytes = new Uint8Array(IDL.encode([type], [request]));
          expect(relevant(decodeRequest(bytes))).toEqual(relevant(request));
        }
      }),
    );
  });

  test('agrees with the Candid library on damaged bytes', () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 3 });
    fc.assert(
      fc.property(requests, damage, fc.nat(20), (request, changes, cut) => {
        const whole = new Uint8Array(IDL.encode([HttpRequest], [request]));
        // The type table stays intact, because a damaged one can keep the library busy for hours.
        const bytes = whole.slice(0, whole.length - (cut > 10 ? cut : 0));
        for (const [position, value] of changes) {
          bytes[70 + (position % Math.max(1, bytes.length - 70))] = value;
        }
        const own = outcome(() => decodeRequest(bytes));
        const official = outcome(() => IDL.decode([HttpRequest], bytes)[0]);
        expect(relevant(own)).toEqual(relevant(official));
      }),
      { numRuns: 3_000 },
    );
  });

  test('accepts a record with an unknown field, as subtyping demands', () => {
    const Wider = IDL.Record({
      method: IDL.Text,
      url: IDL.Text,
      headers: IDL.Vec(IDL.Tuple(IDL.Text, IDL.Text)),
      body: IDL.Vec(IDL.Nat8),
      extra: IDL.Vec(IDL.Nat64),
    });
    const request = { method: 'GET', url: '/', headers: [['a', 'b']], body: Uint8Array.of(1) };
    const bytes = IDL.encode([Wider], [{ ...request, extra: [1n, 2n] }]);
    expect(relevant(decodeRequest(new Uint8Array(bytes)))).toEqual(relevant(request));
  });

  test('refuses too many headers before it reads them', () => {
    const headers = Array.from({ length: requestHeaderCountMax + 1 }, () => ['', '']);
    const request = { method: '', url: '', headers, body: [], certificate_version: [] };
    const bytes = new Uint8Array(IDL.encode([HttpRequest], [request]));
    expect(() => decodeRequest(bytes)).toThrow(RangeError);
  });
});

describe('decodeChunk()', () => {
  const types = [IDL.Text, IDL.Nat, IDL.Vec(IDL.Nat8)];

  test('returns the encoded chunk, whatever its index', () => {
    const indexes = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 70n }), fc.constant(2n ** 49n));
    fc.assert(
      fc.property(text, indexes, fc.uint8Array({ maxLength: 300 }), (uploadId, index, bytes) => {
        const argument = new Uint8Array(IDL.encode(types, [uploadId, index, bytes]));
        const chunk = decodeChunk(argument);
        expect(chunk).toEqual({ uploadId, chunkIndex: index, bytes });
      }),
    );
  });

  test('refuses other messages', () => {
    for (const argument of [new Uint8Array(0), IDL.encode([IDL.Text], ['']), new Uint8Array(99)]) {
      expect(() => decodeChunk(new Uint8Array(argument))).toThrow();
    }
  });
});

test('encodeResponse() writes what the Candid library decodes', () => {
  const responses = fc.record({
    status: fc.integer({ min: 100, max: 599 }),
    headers: fc.array(fc.tuple(fc.string(), text), { maxLength: 20 }),
    body: fc.uint8Array({ maxLength: 40_000 }),
  });
  fc.assert(
    fc.property(responses, fc.boolean(), (response, isUpgrade) => {
      const [decoded] = IDL.decode([HttpResponse], encodeResponse(response, isUpgrade));
      const { status_code, headers, body, upgrade } = decoded as unknown as Record<string, unknown>;
      expect({ status: status_code, headers, body }).toEqual(response);
      expect(upgrade).toEqual(isUpgrade ? [true] : []);
    }),
  );
});
