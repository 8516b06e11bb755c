// A replica with the canister of canister.wat behind its gateway, for tests.

import type { Replica, ReplicaOptions } from '../../../packages/replica/src/replica.ts';
import { startReplica } from '../../../packages/replica/src/replica.ts';
import type { HashTree } from '../../../packages/replica/src/state/hash-tree.ts';
import { empty } from '../../../packages/replica/src/state/hash-tree.ts';
import type { Answer, Page } from './certified-site.ts';
import { certifyPages, provenAnswer } from './certified-site.ts';
import type { Rule } from './gateway-canister.ts';
import { encodeRule, gatewayCanisterModule } from './gateway-canister.ts';
import type { Received, SentRequest } from './send-request.ts';
import { sendRequest } from './send-request.ts';

const nothing = new Uint8Array(0);

export interface Site {
  readonly replica: Replica;
  readonly canisterId: string;
  addRule(rule: Rule): Promise<void>;
  forgetRules(): Promise<void>;
  /** Makes the canister certify exactly these pages. */
  certify(pages: readonly Page[]): Promise<void>;
  /** Returns the page as a canister with the present certificate serves it. */
  prove(page: Page): Promise<Answer>;
  countUpdates(): Promise<number>;
  /** Uses the canister's own host unless another is given. */
  send(sent: Partial<SentRequest>): Promise<Received>;
}

export async function openSite(options: ReplicaOptions = {}): Promise<Site> {
  const replica = await startReplica(options);
  const id = await replica.createCanister();
  await replica.install(id, await gatewayCanisterModule());
  const canisterId = id.toText();
  let tree: HashTree = empty();
  return {
    replica,
    canisterId,
    addRule: async (rule) => {
      await replica.call(id, 'add_rules', encodeRule(rule));
    },
    forgetRules: async () => {
      await replica.call(id, 'forget_rules', nothing);
    },
    certify: async (pages) => {
      tree = certifyPages(pages);
      await replica.call(id, 'certify', tree.hash);
    },
    prove: async (page) =>
      provenAnswer(page, { tree, certificate: await replica.query(id, 'certificate', nothing) }),
    countUpdates: async () => {
      const bytes = Buffer.from(await replica.query(id, 'count_updates', nothing));
      return bytes.readUInt32LE(0);
    },
    send: (sent) => sendRequest({ port: replica.port, host: `${canisterId}.localhost`, ...sent }),
  };
}
