// The rules by which canister.wat answers HTTP requests.

import { join } from 'node:path';
import { assembledModule } from './assembled-module.ts';

export interface Rule {
  readonly method: 'query' | 'update' | 'stream';
  readonly action?: 'reply' | 'trap' | 'reject';
  /** Occurs in the request's Candid bytes: in the URL, a header or the body. */
  readonly pattern: string | Uint8Array;
  readonly reply: string | Uint8Array;
}

const methodBytes = { query: 0, update: 1, stream: 2 } as const;
const actionBytes = { reply: 0, trap: 1, reject: 2 } as const;

/** Returns the argument of the canister's `add_rules`. */
export function encodeRule(rule: Rule): Uint8Array {
  const pattern = Buffer.from(rule.pattern);
  const reply = Buffer.from(rule.reply);
  const head = Buffer.alloc(10);
  head[0] = methodBytes[rule.method];
  head[1] = actionBytes[rule.action ?? 'reply'];
  head.writeUInt32LE(pattern.length, 2);
  head.writeUInt32LE(reply.length, 6);
  return Buffer.concat([head, pattern, reply]);
}

export function gatewayCanisterModule(): Promise<Uint8Array> {
  return assembledModule(join(import.meta.dirname, 'canister.wat'));
}
