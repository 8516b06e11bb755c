// Candid types of HTTPS outcalls. IC spec, "IC method http_request".

import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import type { HttpHeader } from '../outcalls.ts';
import type { Opt } from './opt.ts';

const blob = IDL.Vec(IDL.Nat8);
const httpHeaders = IDL.Vec(IDL.Record({ name: IDL.Text, value: IDL.Text }));
const httpResponse = IDL.Record({ status: IDL.Nat, headers: httpHeaders, body: blob });
const transformArgument = IDL.Record({ response: httpResponse, context: blob });
const httpRequest = IDL.Record({
  url: IDL.Text,
  max_response_bytes: IDL.Opt(IDL.Nat64),
  method: IDL.Variant({
    get: IDL.Null,
    head: IDL.Null,
    post: IDL.Null,
    put: IDL.Null,
    delete: IDL.Null,
    patch: IDL.Null,
  }),
  headers: httpHeaders,
  body: IDL.Opt(blob),
  transform: IDL.Opt(
    IDL.Record({
      function: IDL.Func([transformArgument], [httpResponse], ['query']),
      context: blob,
    }),
  ),
  is_replicated: IDL.Opt(IDL.Bool),
});

export const outcallTypes = {
  http_request: { argument: [httpRequest], result: [httpResponse] },
};

type HttpMethod = 'get' | 'head' | 'post' | 'put' | 'delete' | 'patch';

export interface OutcallArguments {
  readonly http_request: {
    readonly url: string;
    readonly max_response_bytes: Opt<bigint>;
    readonly method: Readonly<Partial<Record<HttpMethod, null>>>;
    readonly headers: readonly HttpHeader[];
    readonly body: Opt<Uint8Array>;
    readonly transform: Opt<{
      readonly function: readonly [Principal, string];
      readonly context: Uint8Array;
    }>;
    readonly is_replicated: Opt<boolean>;
  };
}

export function encodeTransformArgument(value: {
  readonly response: { readonly status: bigint; readonly headers: readonly HttpHeader[] };
  readonly context: Uint8Array;
}): Uint8Array {
  return new Uint8Array(IDL.encode([transformArgument], [value]));
}
