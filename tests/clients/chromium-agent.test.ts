// The official agent in Chromium: it works in a page of the canister, and is refused in a page
// whose name was made to resolve to this machine (DNS rebinding).

import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openService, type Service } from '../support/service.ts';
import { type Chromium, openChromium } from './support/chromium.ts';

const stranger = 'stranger.example';
let service: Service;
let chromium: Chromium;
beforeAll(async () => {
  service = await openService();
  chromium = await openChromium([`--host-resolver-rules=MAP ${stranger} 127.0.0.1`]);
});
afterAll(async () => {
  await chromium?.close();
  await service?.stop();
});

/**
 * Sets `ask(host)`: it sends a query, verifies its node's signature, and sends a call that the
 * canister accepts from nobody.
 */
const script = (canisterId: string) => `
  import { Actor, HttpAgent } from '@icp-sdk/core/agent';
  globalThis.ask = async (host) => {
    const agent = await HttpAgent.create({ host, shouldFetchRootKey: true });
    const actor = (mode) => Actor.createActor(({ IDL }) => IDL.Service({
      getStatus: IDL.Func([], [IDL.Variant({ ok: IDL.Record({ buckets: IDL.Nat }) })], mode),
    }), { agent, canisterId: '${canisterId}' });
    const { ok } = await actor(['query']).getStatus();
    const refusal = await actor([]).getStatus().catch((error) => error.message);
    return [String(ok.buckets), refusal];
  };`;

async function bundle(contents: string): Promise<string> {
  const stdin = { contents, resolveDir: import.meta.dirname };
  const options = {
    stdin,
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'browser',
  } as const;
  return (await build(options)).outputFiles[0]?.text ?? '';
}

test('the agent works in a page of the canister, by its own address and by plain localhost', async () => {
  const { page } = chromium;
  const { canisterId, host } = service;
  const own = host.replace('//', `//${canisterId}.`);
  await page.goto(`${own}/api/v1/status`);
  await page.addScriptTag({ content: await bundle(script(canisterId)) });
  for (const from of [own, host]) {
    const answers = await page.evaluate(
      (address) => (globalThis as unknown as { ask(host: string): string[] }).ask(address),
      from,
    );
    expect(answers).toEqual([
      '1',
      expect.stringContaining('getStatus does not accept this message'),
    ]);
  }
});

test('a request is refused in a page of another host name', async () => {
  const { page } = chromium;
  await page.goto(service.host.replace('localhost', stranger));
  const answer = await page.evaluate(async () => {
    const { status } = await fetch('/api/v2/status');
    return { status, origin: location.hostname };
  });
  expect(answer).toEqual({ status: 403, origin: stranger });
});
