// A counter canister written in any language: a kill does not change its heap and does not run
// `post_upgrade`, and an upgrade preserves what its language preserves (such as stable variables).

import { gunzipSync } from 'node:zlib';
import { Actor } from '@dfinity/agent';
import { IDL } from '@dfinity/candid';
import { describe, expect, test } from 'vitest';
import { counterMethods, counterValue } from './support/counter-methods.ts';
import { type ForeignCanister, openForeign } from './support/foreign-canister.ts';
import { foreignFiles, readForeign } from './support/foreign-files.ts';

const nothing = new Uint8Array(IDL.encode([], []));

async function read(canister: ForeignCanister, method: string): Promise<number> {
  const agent = await canister.agent(canister.owner);
  const answer = await agent.query(canister.id, { methodName: method, arg: nothing });
  if (answer.status !== 'replied') throw new Error(answer.reject_message);
  return counterValue(answer.reply.arg);
}

/** Resolves after the update is answered. */
async function step(canister: ForeignCanister, methodName: string): Promise<void> {
  const agent = await canister.agent(canister.owner);
  const actor = Actor.createActor<Record<string, () => Promise<void>>>(
    () => IDL.Service({ [methodName]: IDL.Func([], [], []) }),
    { agent, canisterId: canister.id },
  );
  await actor[methodName]?.();
}

describe.each(foreignFiles('counter'))('%s', (path) => {
  const bytes = readForeign(path);
  const module = bytes[0] === 0x1f ? gunzipSync(bytes) : bytes;

  test('counts on through kills and upgrades', { timeout: 300_000 }, async () => {
    const methods = counterMethods(module);
    const canister = await openForeign(path);
    try {
      const begun = await read(canister, methods.read);
      for (let count = 1; count <= 5; count += 1) {
        if (methods.step === undefined) await canister.killAndUpgrade();
        else await step(canister, methods.step);
        await canister.killAndStart();
        expect(await read(canister, methods.read)).toBe(begun + count);
      }
      if (methods.step === undefined) return;
      await canister.killAndUpgrade();
      // An upgrade may keep the counter, or start it again; other values are wrong.
      expect([begun, begun + 5]).toContain(await read(canister, methods.read));
    } finally {
      await canister.close();
    }
  });
});
