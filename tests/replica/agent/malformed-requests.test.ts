import { encode } from 'cborg';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAgentEndpoints } from '../../../packages/replica/src/agent/agent-endpoints.ts';
import { createCertification } from '../../../packages/replica/src/state/certification.ts';
import { encodeSelfDescribed } from '../../../packages/replica/src/state/self-described-cbor.ts';
import { canisterId, createPlainEngine } from './plain-engine.ts';
import { callContent, createKey, readStateContent, signedBody } from './signed-request.ts';

const engine = createPlainEngine();
const certification = createCertification({ rootSecret: undefined, engine: () => engine });
const endpoints = createAgentEndpoints({
  engine,
  certification,
  now: engine.now,
  effectiveCanisterId: () => undefined,
});
const kinds = ['call', 'query', 'read_state'] as const;
type Kind = (typeof kinds)[number];
const urlOf = (kind: Kind): string => `/api/v3/canister/${canisterId}/${kind}`;

/** Expects that the endpoints answer 400 with a text of one line. */
async function expectRefused(
  body: Uint8Array,
  endpointKinds: readonly Kind[] = kinds,
): Promise<void> {
  for (const kind of endpointKinds) {
    const response = await endpoints.handle({ method: 'POST', path: urlOf(kind), body });
    expect(response.status).toBe(400);
    expect(Buffer.from(response.body).toString()).toMatch(/^.{10,2000}$/);
  }
}

/** Random CBOR that is not an envelope. */
const anything = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, 1.5, 'call', 'query', 'read_state'),
    fc.string(),
    fc.uint8Array(),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('content', 'request_type', 'sender', '__proto__'), tie('value')),
  ),
})).value;

function contentOf(kind: Kind): Record<string, unknown> {
  const nonce = new Uint8Array(1);
  if (kind === 'read_state') return readStateContent([['time']], { nonce });
  return callContent({ request_type: kind, nonce });
}

function isWellFormed(kind: Kind, name: string, value: unknown): boolean {
  if (name === 'nonce') return value === undefined || value === null;
  if (name === 'arg') return value instanceof Uint8Array;
  if (name === 'method_name') return value === 'text';
  // An anonymous read accepts any expiry.
  return name === 'ingress_expiry' && kind !== 'call' && value === 7;
}

describe('malformed requests', () => {
  it('are derived from well-formed ones', async () => {
    for (const kind of kinds) {
      const body = encodeSelfDescribed({ content: contentOf(kind) });
      const response = await endpoints.handle({ method: 'POST', path: urlOf(kind), body });
      expect(response.status).toBe(200);
    }
    engine.updates.length = 0;
  });

  it('of random bytes are refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), (body) => expectRefused(body)),
    );
  });

  it('of random CBOR are refused', async () => {
    await fc.assert(fc.asyncProperty(anything, (value) => expectRefused(encode(value))));
  });

  it('truncated anywhere are refused', async () => {
    const body = signedBody(callContent({ sender: undefined }), { key: createKey('P-256') });
    for (let length = 0; length < body.length; length += 7) {
      await expectRefused(body.subarray(0, length));
    }
  });

  it('with a field missing or of a wrong type are refused', async () => {
    const wrong = [
      undefined,
      null,
      7,
      -1,
      2n ** 63n * -1n,
      'text',
      [1],
      {},
      1.5,
      new Uint8Array(40),
    ];
    for (const kind of kinds) {
      const content: Record<string, unknown> = contentOf(kind);
      for (const name of Object.keys(content)) {
        for (const value of wrong.filter((value) => !isWellFormed(kind, name, value))) {
          const { [name]: _, ...rest } = content;
          const changed = value === undefined ? rest : { ...rest, [name]: value };
          await expectRefused(encodeSelfDescribed({ content: changed }), [kind]);
        }
      }
    }
  });

  it('with wrong keys, signatures or delegations are refused', async () => {
    const wrong = [7, 'text', [1], {}, [{}], [{ delegation: {} }], new Uint8Array(3)];
    for (const name of ['sender_pubkey', 'sender_sig', 'sender_delegation']) {
      for (const value of wrong) {
        for (const kind of kinds) {
          const body = encodeSelfDescribed({ content: contentOf(kind), [name]: value });
          await expectRefused(body, [kind]);
        }
      }
    }
  });

  it('nested a million deep or announcing endless arrays are refused', async () => {
    await expectRefused(new Uint8Array(1_000_000).fill(0x81));
    await expectRefused(new Uint8Array(1_000_000).fill(0xa1));
    await expectRefused(new Uint8Array(1_000_000).fill(0xd9));
    await expectRefused(new Uint8Array(100).fill(0x9f));
    for (const head of ['9bffffffffffffffff', 'bbffffffffffffffff', '5bffffffffffffffff']) {
      await expectRefused(Buffer.from(head, 'hex'));
      await expectRefused(Buffer.from(`d9d9f7a167636f6e74656e74${head}`, 'hex'));
    }
  });

  it('for unknown paths, methods and principals get a 4xx', async () => {
    const body = encodeSelfDescribed({ content: callContent({}) });
    const statusOf = async (method: string, path: string) =>
      (await endpoints.handle({ method, path, body })).status;
    expect(await statusOf('GET', urlOf('call'))).toBe(405);
    expect(await statusOf('POST', '/api/v2/status')).toBe(405);
    expect(await statusOf('POST', '/api/v5/canister/aaaaa-aa/call')).toBe(404);
    expect(await statusOf('POST', '/api/v4/canister/aaaaa-aa/query')).toBe(404);
    expect(await statusOf('POST', '/api/v3/canister/aaaaa-aa/call/more')).toBe(404);
    expect(await statusOf('POST', '/api/v3/canister/not-a-principal/call')).toBe(400);
    expect(await statusOf('POST', '/api/v3/canister/%00/call')).toBe(400);
  });

  it('leave the engine untouched', () => {
    expect(engine.updates).toEqual([]);
  });
});
