// The kernel assembles the same bytes of an answer as JavaScript encodes.

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EncodableResponse, encodeResponse } from '../../src/actor/messages/bulk-messages.ts';
import { replyBytes, replyNatively } from '../../src/actor/messages/native-reply.ts';
import { closeTextExchange } from '../../src/crypto/kernel-text.ts';
import { installKernelText, type TextHost } from '../support/kernel-text-host.ts';
import { installNodeText } from '../support/memory-stores.ts';

let text: TextHost;

beforeAll(async () => {
  installNodeText();
  text = await installKernelText();
});

// Test files can share an engine.
afterAll(closeTextExchange);

function sent(response: EncodableResponse, isUpgrade = false): string | undefined {
  const { system } = text.host;
  system.reply = Buffer.alloc(0);
  system.isReplied = false;
  const isSent = replyNatively(response, isUpgrade);
  expect(system.isReplied).toBe(isSent);
  return isSent ? system.reply.toString('hex') : undefined;
}

function encoded(response: EncodableResponse, isUpgrade = false): string {
  return Buffer.from(encodeResponse(response, isUpgrade)).toString('hex');
}

const value = fc.string({ unit: 'binary', maxLength: 200 }).map((raw) => raw.replaceAll('\0', ''));
const responses = fc.record(
  {
    status: fc.integer({ min: 100, max: 599 }),
    headers: fc.array(fc.tuple(value, value), { maxLength: 20 }),
    body: fc.uint8Array({ maxLength: 300 }),
    certificate: fc.option(fc.uint8Array({ maxLength: 300 }), { nil: undefined }),
    strategy: fc.constantFrom(undefined, Uint8Array.of(1, 2, 3)),
  },
  { noNullPrototype: true },
);

describe('replyBytes(): a natively encoded answer', () => {
  it('equals the one that JavaScript encodes', () => {
    fc.assert(
      fc.property(responses, fc.boolean(), ({ certificate, headers, ...rest }, isUpgrade) => {
        const last: [string, Uint8Array][] =
          certificate === undefined ? [] : [['IC-Certificate', certificate]];
        const response = { ...rest, headers: [...headers, ...last] };
        expect(sent(response, isUpgrade)).toBe(encoded(response, isUpgrade));
      }),
    );
  });

  it.each<[string, EncodableResponse['headers']]>([
    ['no headers', []],
    ['an empty name and value', [['', '']]],
    ['a value of bytes', [['name', new Uint8Array(0)]]],
    [
      'long values',
      [
        ['a', 'x'.repeat(127)],
        ['b', 'x'.repeat(128)],
        ['c', 'é'.repeat(8_000)],
      ],
    ],
  ])('equals it with special headers: %s', (_, headers) => {
    const response = { status: 200, headers, body: new Uint8Array(130) };
    expect(sent(response)).toBe(encoded(response));
  });

  it('is encoded by JavaScript if its headers are longer', () => {
    const headers: [string, string][] = [['a', 'x'.repeat(16_384)]];
    expect(sent({ status: 200, headers, body: new Uint8Array(0) })).toBeUndefined();
  });

  it('is refused if its headers contain NUL', () => {
    const headers: [string, string][] = [['a', 'b\0c']];
    expect(() => sent({ status: 200, headers, body: new Uint8Array(0) })).toThrow('unreachable');
  });
});

describe('replyBytes(): large bodies', () => {
  it.each([
    [3, 5],
    [0, 0],
    [1, 300_000],
  ])('are appended to a head of %i bytes: %i bytes', (headBytes, bodyBytes) => {
    const { system } = text.host;
    const head = new Uint8Array(headBytes).fill(1);
    const body = new Uint8Array(bodyBytes).fill(2);
    system.reply = Buffer.alloc(0);
    system.isReplied = false;
    replyBytes(head, body);
    expect(system.isReplied).toBe(true);
    expect(Buffer.compare(system.reply, Buffer.concat([head, body]))).toBe(0);
  });
});
