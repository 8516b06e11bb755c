// Verification in parallel with the replica's work: the results equal those of verifyAnswer() for
// answers of any size, and each reaches its own caller.

import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../../packages/replica/src/gateway/gateway-error.ts';
import type { HeaderField } from '../../../packages/replica/src/gateway/http-messages.ts';
import { verifyBeside } from '../../../packages/replica/src/gateway/verifier.ts';
import { verifyAnswer } from '../../../packages/replica/src/gateway/verify-answer.ts';
import { certificateFor, testContext } from '../../support/certification/verdict.ts';
import { certifyPages, provenAnswer } from '../../support/gateway-canister/certified-site.ts';
import { sampleBytes } from '../../support/service.ts';

const sizes = [0, 1, 262_143, 262_144, 300_000, 1_900_000];
const pages = sizes.map((size) => ({ path: [`${size}`, '<$>'], body: sampleBytes('page', size) }));
const site = certifyPages(pages);
const certificate = certificateFor(site.hash);

function inputFor(page: (typeof pages)[number]) {
  const { status = 200, headers = [] } = provenAnswer(page, { tree: site, certificate });
  const request = { method: 'GET', url: `/${page.path[0]}`, headers: [], body: new Uint8Array(0) };
  const answer = { status, headers: headers as readonly HeaderField[], body: page.body.slice() };
  return { ...testContext, request, answer };
}

describe('verifyBeside()', () => {
  test.each(pages)('accepts body and headers of a page at $path.0', async (page) => {
    const { headers, body } = await verifyBeside(inputFor(page));
    expect(headers).toEqual(verifyAnswer(inputFor(page)));
    expect(Buffer.compare(body, page.body)).toBe(0);
  });

  test.each(pages.slice(1))('refuses one altered byte of a page at $path.0', async (page) => {
    const input = inputFor(page);
    input.answer.body[page.body.length - 1] = (page.body.at(-1) ?? 0) ^ 1;
    const verdict = verifyBeside(input);
    await expect(verdict).rejects.toThrow(GatewayError);
    await expect(verdict).rejects.toMatchObject({ code: 'ResponseVerificationFailed' });
    await expect(verdict).rejects.toThrow(`GET /${page.path[0]} can't be verified`);
  });

  test('verifies many answers at a time, each separately', async () => {
    const asked = Array.from({ length: 24 }, (_, index) => ({
      page: pages[index % pages.length] ?? expect.fail(),
      isAltered: index % 3 === 0,
    }));
    const verdicts = asked.map(async ({ page, isAltered }) => {
      const input = inputFor(page);
      const status = isAltered ? 201 : input.answer.status;
      const verdict = verifyBeside({ ...input, answer: { ...input.answer, status } });
      const outcome = await verdict.catch((error: unknown) => String(error));
      if (isAltered) expect(outcome).toMatch(`GET /${page.path[0]} `);
      else expect(outcome).toMatchObject({ body: { length: page.body.length } });
    });
    await Promise.all(verdicts);
  });
});
