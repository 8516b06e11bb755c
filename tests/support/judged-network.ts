// A service on a network that runs elsewhere, for tests that judge the canister there: a replica of
// this repository, PocketIC or dfx. Each test file gets a canister of its own, and an address of
// that canister on this machine, because not every system resolves <id>.localhost.

import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openCanisterCode } from '../../packages/client/src/actor/canister-code.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { actorConnection, createStorage } from '../../packages/client/src/storage.ts';
import { newIdentity } from '../../scripts/local-service.ts';

const managementId = 'aaaaa-aa';
const cycles = 10 ** 15;

/** `host`: URL of the agent endpoints and of the gateway, which is on this machine. */
export async function openJudgedService(host: string, wasm: Uint8Array) {
  const identityPem = newIdentity();
  const identity = identityFromPem(identityPem);
  const code = await openCanisterCode(
    actorConnection({ host, canisterId: managementId, identity }),
  );
  const canisterId = await code.createLocally({ cycles });
  await code.install(canisterId, wasm, 'volume');
  const { buckets, keys } = createStorage({ host, canisterId, identity });
  const bucket = 'demo';
  await buckets.create(bucket, { isPublic: true });
  const permissions = ['read', 'write', 'delete'] as const;
  const { secret } = await keys.create({ name: 'judge', buckets: [bucket], permissions });
  const address = await openAddress(host, canisterId);
  return {
    base: address.url,
    ...{ host, canisterId, bucket, identityPem },
    apiKey: secret,
    replica: undefined,
    stop: address.close,
  };
}

interface Address {
  readonly url: string;
  close(): Promise<void>;
}

/** Forwards requests to the gateway under the canister's host name. */
async function openAddress(gateway: string, canisterId: string): Promise<Address> {
  const { hostname, port } = new URL(gateway);
  const server = createServer((asked, answer) => {
    const { method, url: path, rawHeaders } = asked;
    const headers = fieldsOf(rawHeaders).filter(([name]) => name.toLowerCase() !== 'host');
    const sent = request({ host: hostname, port, method, path }, (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.statusMessage, reply.rawHeaders);
      reply.pipe(answer);
      reply.once('error', () => answer.destroy());
    });
    for (const [name, value] of headers) sent.appendHeader(name, value);
    sent.setHeader('Host', `${canisterId}.localhost:${port}`);
    sent.once('error', () => answer.destroy());
    answer.once('close', () => sent.destroy());
    asked.pipe(sent);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port: own } = server.address() as AddressInfo;
  return { url: `http://localhost:${own}`, close: () => closed(server) };
}

function fieldsOf(raw: readonly string[]): [name: string, value: string][] {
  const fields: [string, string][] = [];
  for (let at = 0; at < raw.length; at += 2) fields.push([raw[at] ?? '', raw[at + 1] ?? '']);
  return fields;
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
