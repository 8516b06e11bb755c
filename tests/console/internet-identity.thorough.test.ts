// Signing in by Internet Identity, at an address of the network: the page, its library and the
// browser are real; the provider's window implements its protocol (ICRC-29 and ICRC-34) and signs
// with a key of the test.

import { DelegationChain, Ed25519KeyIdentity } from '@icp-sdk/core/identity';
import type { BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gatewayDomains } from '../../packages/wire/src/gateways.ts';
import { isBrowserUnwanted } from './support/browser.ts';
import { openConsole, type TestedConsole } from './support/console.ts';

const dayMs = 86_400_000;
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

/** The identity provider's window: answers the messages of the page that opened it. */
const providerPage = `<!doctype html><title>Sign in</title><script>
addEventListener('message', async ({ data, origin }) => {
  const answer = (result) => opener.postMessage({ jsonrpc: '2.0', id: data.id, result }, origin);
  if (data.method === 'icrc29_status') answer('ready');
  if (data.method === 'icrc34_delegation') answer(await delegate(data.params));
});
</script>`;

describe.skipIf(isBrowserUnwanted)('sign in', () => {
  const person = Ed25519KeyIdentity.generate();
  let tested: TestedConsole;
  beforeAll(async () => {
    tested = await openConsole();
  });
  afterAll(() => tested?.close());

  /** The origins for which principals were asked, in order. */
  const origins: (string | undefined)[] = [];

  interface Asked {
    readonly publicKey: string;
    readonly icrc95DerivationOrigin?: string;
  }

  async function delegate(_source: unknown, asked: Asked): Promise<object> {
    const { publicKey, icrc95DerivationOrigin } = asked;
    origins.push(icrc95DerivationOrigin);
    const key = Buffer.from(publicKey, 'base64');
    const until = new Date(Date.now() + dayMs);
    const { delegations } = await DelegationChain.create(person, { toDer: () => key }, until);
    const signerDelegation = delegations.map(({ delegation, signature }) => ({
      delegation: {
        pubkey: base64(delegation.pubkey),
        expiration: String(delegation.expiration),
      },
      signature: base64(signature),
    }));
    return { publicKey: base64(person.getPublicKey().toDer()), signerDelegation };
  }

  /** Serves the console at its address on the network, and the provider's page. */
  async function serveNetwork(context: BrowserContext, address: string): Promise<void> {
    await context.route(`${address}/**`, async (route) => {
      const { pathname, search } = new URL(route.request().url());
      const response = await route.fetch({ url: tested.pages.url + pathname + search });
      await route.fulfill({ response });
    });
    await context.exposeBinding('delegate', delegate);
    await context.route('https://id.ai/**', (route) =>
      route.fulfill({ contentType: 'text/html', body: providerPage }),
    );
    await context.route('https://icp-api.io/**', (route) => route.abort());
  }

  /** Closes the pages; what they still ask for is not an error. */
  async function leave(context: BrowserContext): Promise<void> {
    await context.unrouteAll({ behavior: 'ignoreErrors' });
    await context.close();
  }

  test('by Internet Identity shows the principal, also after a reload', async () => {
    const { page, context, faults } = await tested.open();
    const address = `https://${tested.service.canisterId}.icp.net`;
    await serveNetwork(context, address);
    const policy = (await page.goto(address))?.headers()['content-security-policy'];
    for (const domain of gatewayDomains) {
      expect(policy).toContain(` https://${domain} https://*.${domain} `);
    }
    const opened = context.waitForEvent('page');
    await page.getByRole('button', { name: 'Use Internet Identity' }).click();
    const provider = await opened;
    await provider.waitForEvent('close');
    const principal = person.getPrincipal().toText();
    await page.getByText(principal, { exact: true }).waitFor();
    // No front at this address lists it
    expect(origins).toEqual([undefined]);
    await page.getByRole('alert').waitFor();
    await page.reload();
    await page.getByText(principal, { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    expect(faults).toEqual([]);
    await leave(context);
  });

  test.each(gatewayDomains)('at the front at %s asks for the same origin', async (domain) => {
    const { page, context } = await tested.open();
    const { frontUrl = '' } = tested.service;
    const [front = ''] = new URL(frontUrl).hostname.split('.');
    const address = `https://${front}.${domain}`;
    await serveNetwork(context, address);
    await page.goto(address);
    const opened = context.waitForEvent('page');
    await page.getByRole('button', { name: 'Use Internet Identity' }).click();
    await (await opened).waitForEvent('close');
    await page.getByText(person.getPrincipal().toText(), { exact: true }).waitFor();
    expect(origins.at(-1)).toBe(`https://${front}.icp.net`);
    await leave(context);
  });
});
