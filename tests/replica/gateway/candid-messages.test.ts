// The gateway's messages compared with the Candid library, with token types that canisters define.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeAnswer,
  decodeStreamedPart,
  encodeQueryRequest,
  encodeUpdateRequest,
} from '../../../packages/replica/src/gateway/candid-messages.ts';
import { splitLeadingBody } from '../../../packages/replica/src/gateway/split-leading-body.ts';

const Headers = IDL.Vec(IDL.Tuple(IDL.Text, IDL.Text));
const Blob = IDL.Vec(IDL.Nat8);
const Plain = IDL.Record({ status_code: IDL.Nat16, headers: Headers, body: Blob });

function streamingType(Token: IDL.Type) {
  const Part = IDL.Record({ body: Blob, token: IDL.Opt(Token) });
  const callback = IDL.Func([Token], [Part], ['query']);
  const Strategy = IDL.Variant({ Callback: IDL.Record({ callback, token: Token }) });
  const Response = IDL.Record({
    status_code: IDL.Nat16,
    headers: Headers,
    body: Blob,
    upgrade: IDL.Opt(IDL.Bool),
    streaming_strategy: IDL.Opt(Strategy),
  });
  return { Part, Response };
}

const tokens: readonly (readonly [string, IDL.Type, unknown])[] = [
  ['a record', IDL.Record({ key: IDL.Text, index: IDL.Nat }), { key: 'ä', index: 7n }],
  ['a tuple', IDL.Tuple(IDL.Nat64, IDL.Text), [2n ** 63n, 'x']],
  ['a text', IDL.Text, 'next'],
  ['a nat32', IDL.Nat32, 4_000_000_000],
  ['a blob', Blob, Uint8Array.of(1, 2, 255)],
  ['a variant', IDL.Variant({ a: IDL.Null, b: IDL.Nat8 }), { b: 3 }],
  ['a principal', IDL.Principal, Principal.fromText('aaaaa-aa')],
];

describe('decodeAnswer()', () => {
  it('reads an answer without the optional fields', () => {
    const reply = IDL.encode([Plain], [{ status_code: 404, headers: [['a', 'b']], body: [1, 2] }]);
    expect(decodeAnswer(reply)).toEqual({
      status: 404,
      headers: [['a', 'b']],
      body: Uint8Array.of(1, 2),
      isUpgrade: false,
      streaming: undefined,
    });
  });

  it('reads a view into a larger buffer', () => {
    const reply = IDL.encode([Plain], [{ status_code: 200, headers: [], body: [9] }]);
    const buffer = new Uint8Array(reply.length + 8);
    buffer.set(reply, 5);
    const answer = decodeAnswer(buffer.subarray(5, 5 + reply.length));
    expect(answer).toMatchObject({ status: 200, body: Uint8Array.of(9) });
  });

  it.each(tokens)('returns %s unchanged as streaming token', (_, Token, token) => {
    const { Part, Response } = streamingType(Token);
    const callback = [Principal.fromText('rrkah-fqaaa-aaaaa-aaaaq-cai'), 'more'];
    const streaming_strategy = [{ Callback: { callback, token } }];
    const value = { status_code: 200, headers: [], body: [1], upgrade: [], streaming_strategy };
    const answer = decodeAnswer(IDL.encode([Response], [value]));
    expect(answer.streaming?.method).toBe('more');
    const sent = answer.streaming?.token ?? new Uint8Array(0);
    expect(IDL.decode([Token], sent)).toEqual([token]);
    const part = decodeStreamedPart(IDL.encode([Part], [{ body: [5], token: [token] }]));
    expect(IDL.decode([Token], part.token ?? new Uint8Array(0))).toEqual([token]);
    expect(
      decodeStreamedPart(IDL.encode([Part], [{ body: [5], token: [] }])).token,
    ).toBeUndefined();
  });

  it.each([
    ['nothing', new Uint8Array(0)],
    ['text', new TextEncoder().encode('hello, this is not Candid')],
    ['another type', IDL.encode([IDL.Nat], [5n])],
  ])('throws for %s', (_, bytes) => {
    expect(() => decodeAnswer(bytes)).toThrow();
  });
});

describe('requests', () => {
  const request = { method: 'PUT', url: '/é?a=1', headers: [['x', 'y']], body: [1, 2, 3] } as const;
  const Sent = IDL.Record({
    method: IDL.Text,
    url: IDL.Text,
    headers: Headers,
    body: Blob,
    certificate_version: IDL.Opt(IDL.Nat16),
  });

  it('have the certificate version only in the query', () => {
    const input = { ...request, body: Uint8Array.from(request.body) };
    const expected = { ...input, headers: [['x', 'y']] };
    const query = IDL.decode([Sent], encodeQueryRequest(input))[0];
    expect(query).toEqual({ ...expected, certificate_version: [2] });
    const update = IDL.decode([Sent], encodeUpdateRequest(input))[0];
    expect(update).toEqual({ ...expected, certificate_version: [] });
  });

  it('are encoded as by the Candid library, whatever the length of the body', () => {
    const Update = IDL.Record({ method: IDL.Text, url: IDL.Text, headers: Headers, body: Blob });
    for (const length of [0, 1, 127, 128, 65_535, 65_536, 65_537, 2_097_151, 2_097_152]) {
      const body = new Uint8Array(length).map((_, index) => index * 7);
      const input = { ...request, body };
      const queried = { ...input, certificate_version: [2] };
      expect(Buffer.compare(encodeQueryRequest(input), IDL.encode([Sent], [queried]))).toBe(0);
      expect(Buffer.compare(encodeUpdateRequest(input), IDL.encode([Update], [input]))).toBe(0);
    }
  });
});

describe('splitLeadingBody()', () => {
  it('returns exactly the body and the rest', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.string(), (body, text) => {
        const value = { status_code: 200, headers: [['h', text]], body };
        const message = IDL.encode([Plain], [value]);
        const split = splitLeadingBody(message);
        expect(split?.body).toEqual(body);
        const rest = IDL.decode([Plain], split?.rest ?? new Uint8Array(0))[0];
        expect(rest).toEqual({ ...value, body: new Uint8Array(0) });
      }),
    );
  });

  it('returns undefined if the message begins with another field or type', () => {
    const Early = IDL.Record({ _1_: IDL.Nat8, body: Blob });
    expect(splitLeadingBody(IDL.encode([Early], [{ _1_: 1, body: [1] }]))).toBeUndefined();
    const Wide = IDL.Record({ body: IDL.Vec(IDL.Nat16) });
    expect(splitLeadingBody(IDL.encode([Wide], [{ body: [1] }]))).toBeUndefined();
    expect(splitLeadingBody(IDL.encode([Blob], [[1]]))).toBeUndefined();
  });

  it('leaves every truncated or random message to the Candid library', () => {
    const message = IDL.encode([Plain], [{ status_code: 200, headers: [], body: [1, 2, 3] }]);
    for (let length = 0; length < message.length - 6; length += 1) {
      const split = splitLeadingBody(message.subarray(0, length));
      expect(split === undefined || split.body.length === 3).toBe(true);
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        const marked = Uint8Array.from([68, 73, 68, 76, ...bytes]);
        expect(() => splitLeadingBody(marked)).not.toThrow();
      }),
    );
  });
});
