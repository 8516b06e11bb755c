// The Candid types of the HTTP face. HTTP gateway specification, "The canister HTTP interface".

import { IDL } from '@dfinity/candid';
import { TextPair } from './types.ts';

/** A request as gateways send it. */
export const HttpRequest = IDL.Record({
  method: IDL.Text,
  url: IDL.Text,
  headers: IDL.Vec(TextPair),
  body: IDL.Vec(IDL.Nat8),
  certificate_version: IDL.Opt(IDL.Nat16),
});
/** A request that is sent again as an update. */
export const HttpUpdateRequest = IDL.Record({
  method: IDL.Text,
  url: IDL.Text,
  headers: IDL.Vec(TextPair),
  body: IDL.Vec(IDL.Nat8),
});
/** Opens what is left of a body. */
export const StreamingToken = IDL.Record({ token: IDL.Vec(IDL.Nat8) });
/** The next piece of a body, and the token for the one after it. */
export const StreamingResponse = IDL.Record({
  body: IDL.Vec(IDL.Nat8),
  token: IDL.Opt(StreamingToken),
});
/** The method and the token with which a gateway requests the next piece. */
export const StreamingCallback = IDL.Record({
  callback: IDL.Func([StreamingToken], [StreamingResponse], ['query']),
  token: StreamingToken,
});
/** How a gateway gets the rest of a body. */
export const StreamingStrategy = IDL.Variant({ Callback: StreamingCallback });
/** `upgrade`: the gateway is to send the request again as an update. */
export const HttpResponse = IDL.Record({
  status_code: IDL.Nat16,
  headers: IDL.Vec(TextPair),
  body: IDL.Vec(IDL.Nat8),
  upgrade: IDL.Opt(IDL.Bool),
  streaming_strategy: IDL.Opt(StreamingStrategy),
});
