// A service on a network that runs elsewhere, for tests that judge the canister there. Each test file
// gets a canister of its own, on a network of its own where a server gives them, and an address of
// that canister on this machine, because not every system resolves <id>.localhost.
//   EFS_JUDGE_SERVER  URL of a PocketIC server, or of replica-instances.ts
//   EFS_JUDGE_HOST    URL of one network for all files, such as dfx; nothing sets its clock

import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { identityFromPem } from '../../../packages/client/src/node/identity.ts';
import { createStorage } from '../../../packages/client/src/storage.ts';
import { newIdentity } from '../../../scripts/local-service.ts';
import { networkByAgent } from './agent-network.ts';
import { type Instance, openInstance } from './instances.ts';

const cycles = 10n ** 15n;

async function openPlace(): Promise<Pick<Instance, 'host' | 'close'> & Partial<Instance>> {
  const { EFS_JUDGE_SERVER: server, EFS_JUDGE_HOST: host = '' } = process.env;
  return server === undefined ? { host, close: async () => {} } : openInstance(server);
}

/** Opens a network for one test file. */
export async function openJudgedNetwork() {
  const { host, setTime, close } = await openPlace();
  const identityPem = newIdentity();
  const network = networkByAgent({ host, identityPem, setTime });
  return { host, identityPem, network, close };
}

export async function openJudgedService(wasm: Uint8Array) {
  const { host, identityPem, network, close } = await openJudgedNetwork();
  const canisterId = await network.create(cycles);
  await network.install(canisterId, wasm);
  const storage = createStorage({ host, canisterId, identity: identityFromPem(identityPem) });
  const bucket = 'demo';
  await storage.buckets.create(bucket, { isPublic: true });
  const permissions = ['read', 'write', 'delete'] as const;
  const { secret } = await storage.keys.create({ name: 'judge', buckets: [bucket], permissions });
  const address = await openAddress(network.gatewayAddress(canisterId));
  return {
    base: address.url,
    ...{ host, canisterId, bucket, identityPem, network },
    apiKey: secret,
    replica: undefined,
    async stop() {
      await address.close();
      await close();
    },
  };
}

/** More than any gateway accepts, so that it is the gateway that refuses a request. */
const maxHeaderSize = 2 ** 20;

interface Address {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Forwards requests to the gateway under the canister's host name, also that of `raw`. Clients end
 * idle connections: a server that does so may meet the next request.
 */
async function openAddress(gateway: string): Promise<Address> {
  const { hostname, port } = new URL(gateway);
  const server = createServer({ maxHeaderSize, keepAliveTimeout: 0 }, (asked, answer) => {
    const { method, url: path, rawHeaders } = asked;
    const headers = fieldsOf(rawHeaders).filter(([name]) => name.toLowerCase() !== 'host');
    const options = { host: 'localhost', port, method, path, maxHeaderSize };
    const sent = request(options, (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.statusMessage, reply.rawHeaders);
      reply.pipe(answer);
      reply.once('error', () => answer.destroy());
    });
    for (const [name, value] of headers) sent.appendHeader(name, value);
    const [asHost = ''] = (asked.headers.host ?? '').split(':');
    sent.setHeader('Host', `${asHost.endsWith('.localhost') ? asHost : hostname}:${port}`);
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
