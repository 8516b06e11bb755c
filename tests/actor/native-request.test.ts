// The kernel reads requests exactly as the reader in JavaScript does, or leaves them to it.

import { IDL } from '@dfinity/candid';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpRequest, HttpUpdateRequest } from '../../src/actor/candid/http.ts';
import { readAnyRequest } from '../../src/actor/messages/bulk-messages.ts';
import { readRequestNatively } from '../../src/actor/messages/native-request.ts';
import { closeTextExchange } from '../../src/crypto/kernel-text.ts';
import {
  header,
  type HttpRequest as Request,
  singleHeader,
  soleHeader,
} from '../../src/http/message.ts';
import { requestHeaderCountMax, requestTextBytesMax } from '../../src/limits.ts';
import { installKernelText } from '../support/kernel-text-host.ts';
import { installNodeText } from '../support/memory-stores.ts';

beforeAll(async () => {
  installNodeText();
  await installKernelText();
});

// Test files can share an engine.
afterAll(closeTextExchange);

const bounds = { bytes: 2_097_152, textBytes: requestTextBytesMax, values: 480 };
const request = {
  method: 'GET',
  url: '/cloud/demo/a%20b.txt?x="\\',
  headers: [
    ['host', 'a.localhost'],
    ['x', '"quoted" \\ \u0001\u001f\u007f é€𝄞'],
  ],
  body: Uint8Array.of(0, 255, 10),
  certificate_version: [2],
};

function encode(value: unknown, type: IDL.Type = HttpRequest): Uint8Array {
  return new Uint8Array(IDL.encode([type], [value]));
}

function read(argument: Uint8Array) {
  const found = readRequestNatively(argument, requestTextBytesMax);
  if (found === undefined) return undefined;
  const { method, url, headers, body } = found;
  expectFields(found);
  return { method, url, headers, body: Buffer.from(body).toString('hex') };
}

/** Expects the same values from the fields that the kernel listed as from the decoded headers. */
function expectFields({ fields, ...request }: Request): void {
  const names = new Set(request.headers.map(([name]) => name.toLowerCase()));
  if (fields === undefined) return;
  const listed = { ...request, fields };
  for (const name of [...names, 'range']) {
    expect(header(listed, name)).toBe(header(request, name));
    expect(soleHeader(listed, name)).toBe(soleHeader(request, name));
    expect(singleHeader(listed, name)).toBe(singleHeader(request, name));
  }
}

/** Uses the slow reader, which the kernel must match; errors count as no result. */
function readSlowly(argument: Uint8Array) {
  try {
    const { method, url, headers, body } = readAnyRequest(argument, bounds);
    return { method, url, headers, body: Buffer.from(body).toString('hex') };
  } catch {
    return undefined;
  }
}

describe('readRequestNatively(): a request', () => {
  it('equals the sent one, with all escapes, with and without a version', () => {
    const { method, url, headers } = request;
    const expected = { method, url, headers, body: '00ff0a' };
    expect(read(encode(request))).toEqual(expected);
    expect(read(encode({ ...request, certificate_version: [] }))).toEqual(expected);
    expect(read(encode(request, HttpUpdateRequest))).toEqual(expected);
    expect(read(encode({ ...request, headers: [], body: [] }))).toEqual({
      ...expected,
      headers: [],
      body: '',
    });
  });

  it.each([
    ['too many headers', { headers: Array(requestHeaderCountMax + 1).fill(['a', 'b']) }],
    ['longer texts', { url: 'x'.repeat(requestTextBytesMax + 1) }],
  ])('with %s is left to the JavaScript reader', (_, change) => {
    expect(read(encode({ ...request, ...change }))).toBeUndefined();
  });

  it('of the maximum size is read', () => {
    const headers = Array(requestHeaderCountMax).fill(['', '\u0001'.repeat(100)]);
    expect(read(encode({ ...request, url: 'u', headers }))?.headers).toEqual(headers);
  });

  it('with other types is left to the JavaScript reader', () => {
    const Extra = IDL.Record({
      method: IDL.Text,
      url: IDL.Text,
      headers: IDL.Vec(IDL.Tuple(IDL.Text, IDL.Text)),
      body: IDL.Vec(IDL.Nat8),
      extra: IDL.Text,
    });
    expect(read(encode({ ...request, extra: '' }, Extra))).toBeUndefined();
    const Triples = IDL.Record({
      method: IDL.Text,
      url: IDL.Text,
      headers: IDL.Vec(IDL.Tuple(IDL.Text, IDL.Text, IDL.Text)),
      body: IDL.Vec(IDL.Nat8),
    });
    expect(read(encode({ ...request, headers: [['a', 'b', 'c']] }, Triples))).toBeUndefined();
    expect(read(Uint8Array.of(0x44, 0x49, 0x44, 0x4c, 0, 1, 0x71, 0))).toBeUndefined();
    expect(read(new Uint8Array(0))).toBeUndefined();
  });
});

describe('readRequestNatively(): header fields by name', () => {
  const fieldsOf = (headers: [string, string][]) =>
    readRequestNatively(encode({ ...request, headers }), requestTextBytesMax)?.fields;

  it('have lower-case names if each occurs once', () => {
    const headers: [string, string][] = [
      ['Host', 'A.Example'],
      ['X-"Z', ''],
      ['__proto__', 'own'],
    ];
    const fields = fieldsOf(headers);
    expect(Object.entries(fields ?? {})).toEqual([
      ['host', 'A.Example'],
      ['x-"z', ''],
      ['__proto__', 'own'],
    ]);
  });

  it.each<[string, [string, string][]]>([
    [
      'a repeated name',
      [
        ['Range', 'a'],
        ['rANGE', 'b'],
      ],
    ],
    ['space before a value', [['a', ' b']]],
    ['space after a value', [['a', 'b\t']]],
    ['a value that is not ASCII', [['a', 'é']]],
    ['a name that is not ASCII', [['É', 'a']]],
  ])('are absent for %s', (_, headers) => {
    expect(fieldsOf([['host', 'x'], ...headers])).toBeUndefined();
  });
});

describe('readRequestNatively(): damaged bytes', () => {
  it('are read as by the JavaScript reader, or left to it', () => {
    const whole = encode(request);
    const damage = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { maxLength: 4 });
    let isRead = 0;
    fc.assert(
      fc.property(damage, fc.nat(40), (changes, cut) => {
        const bytes = whole.slice(0, whole.length - (cut > 20 ? cut - 20 : 0));
        for (const [position, value] of changes) {
          if (position < bytes.length) bytes[position] = value;
        }
        const found = read(bytes);
        if (found === undefined) return;
        isRead += 1;
        expect(found).toEqual(readSlowly(bytes));
      }),
      { numRuns: 20_000 },
    );
    expect(isRead).toBeGreaterThan(1_000);
  });
});
