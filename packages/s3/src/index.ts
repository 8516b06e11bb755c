// The entrance of the package: a server that speaks S3 to tools, and the client library to the
// service.

export type { Account } from './account.ts';
export { createS3Server, type S3Server, type S3ServerOptions } from './s3-server.ts';
export type { Access, Credential, Credentials } from './signature/verify.ts';
