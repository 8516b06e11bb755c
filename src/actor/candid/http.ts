// The Candid types of HTTP. HTTP gateway specification, "The canister HTTP interface".

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
/** A request that is repeated as an update. */
export const HttpUpdateRequest = IDL.Record({
  method: IDL.Text,
  url: IDL.Text,
  headers: IDL.Vec(TextPair),
  body: IDL.Vec(IDL.Nat8),
});
/** Gives access to the rest of a body. */
export const StreamingToken = IDL.Record({ token: IDL.Vec(IDL.Nat8) });
/** The next bytes of a body, and the token for the following ones. */
export const StreamingResponse = IDL.Record({
  body: IDL.Vec(IDL.Nat8),
  token: IDL.Opt(StreamingToken),
});
/** The method and the token with which a gateway requests the next bytes. */
export const StreamingCallback = IDL.Record({
  callback: IDL.Func([StreamingToken], [StreamingResponse], ['query']),
  token: StreamingToken,
});
/** The way in which a gateway gets the rest of a body. */
export const StreamingStrategy = IDL.Variant({ Callback: StreamingCallback });
/** `upgrade`: asks the gateway to repeat the request as an update. */
export const HttpResponse = IDL.Record({
  status_code: IDL.Nat16,
  headers: IDL.Vec(TextPair),
  body: IDL.Vec(IDL.Nat8),
  upgrade: IDL.Opt(IDL.Bool),
  streaming_strategy: IDL.Opt(StreamingStrategy),
});
