// The Candid types of the interface; the .did file is made from them.

import { IDL } from '@dfinity/candid';

function resultOf(ok: IDL.Type): IDL.VariantClass {
  return IDL.Variant({ ok, err: IDL.Text });
}

export const Result = resultOf(IDL.Text);
export const ResultNat = resultOf(IDL.Nat);
export const ResultNull = resultOf(IDL.Null);

export const Upload = IDL.Record({
  uploadId: IDL.Text,
  bucketId: IDL.Text,
  path: IDL.Text,
  contentType: IDL.Text,
  tags: IDL.Vec(IDL.Text),
  totalSize: IDL.Nat,
  uploadedSize: IDL.Nat,
  chunkSize: IDL.Nat,
  chunkCount: IDL.Nat,
  receivedChunks: IDL.Nat,
  missing: IDL.Vec(IDL.Nat),
  status: IDL.Text,
  createdAt: IDL.Int,
  updatedAt: IDL.Int,
  expiresAt: IDL.Int,
  fileId: IDL.Opt(IDL.Text),
});
export const ResultUpload = resultOf(Upload);

export const Bucket = IDL.Record({
  id: IDL.Text,
  owner: IDL.Principal,
  isPublic: IDL.Bool,
  fileCount: IDL.Nat,
  byteCount: IDL.Nat,
  createdAt: IDL.Int,
  updatedAt: IDL.Int,
});
export const ResultBucket = resultOf(Bucket);

export const ApiKeyRequest = IDL.Record({
  name: IDL.Text,
  buckets: IDL.Vec(IDL.Text),
  permissions: IDL.Vec(IDL.Text),
  expiresAt: IDL.Opt(IDL.Int),
});
export const NewApiKey = IDL.Record({
  id: IDL.Text,
  secret: IDL.Text,
  hint: IDL.Text,
  name: IDL.Text,
  buckets: IDL.Vec(IDL.Text),
  permissions: IDL.Vec(IDL.Text),
  createdAt: IDL.Int,
  expiresAt: IDL.Opt(IDL.Int),
});
export const ResultNewApiKey = resultOf(NewApiKey);

// HTTP gateway specification, "The canister HTTP interface"
const HeaderField = IDL.Tuple(IDL.Text, IDL.Text);
export const HttpRequest = IDL.Record({
  method: IDL.Text,
  url: IDL.Text,
  headers: IDL.Vec(HeaderField),
  body: IDL.Vec(IDL.Nat8),
  certificate_version: IDL.Opt(IDL.Nat16),
});
export const HttpUpdateRequest = IDL.Record({
  method: IDL.Text,
  url: IDL.Text,
  headers: IDL.Vec(HeaderField),
  body: IDL.Vec(IDL.Nat8),
});
export const HttpResponse = IDL.Record({
  status_code: IDL.Nat16,
  headers: IDL.Vec(HeaderField),
  body: IDL.Vec(IDL.Nat8),
  upgrade: IDL.Opt(IDL.Bool),
});
