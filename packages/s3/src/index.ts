// The entrance of the package: a server that speaks S3 to tools, and the client library to the
// service.

export type { Account } from './account.ts';
export { createDoor, type Door, type DoorOptions } from './door.ts';
export type { Access, Credential, Credentials } from './signature/verify.ts';
