// The entry point of the package: an S3 server that uses the client library to access the service.

export type { Account } from './account.ts';
export { createS3Server, type S3Server, type S3ServerOptions } from './s3-server.ts';
export type { Access, Credential, Credentials } from './signature/verify.ts';
