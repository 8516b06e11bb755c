// Texts between JavaScript and native code: the conversions of the kernel, and the calls that it
// forwards.

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  closeTextExchange,
  decodeByKernel,
  encodeByKernel,
  hexByKernel,
} from '../../src/crypto/kernel-text.ts';
import { installKernelText, type TextHost } from '../support/kernel-text-host.ts';

let text: TextHost;

beforeAll(async () => {
  text = await installKernelText();
});

// Other test files may run in the same JavaScript engine.
afterAll(closeTextExchange);

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decodeByNode(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Tests several offsets in a word, since eight bytes of ASCII are read at once. */
function expectSame(bytes: Uint8Array): void {
  for (const before of [0, 3, 8]) {
    const shifted = new Uint8Array(before + bytes.length + 9).fill(65);
    shifted.set(bytes, before);
    expect(decodeByKernel(shifted)).toBe(decodeByNode(shifted));
    expect(decodeByKernel(shifted.slice(0, before + bytes.length))).toBe(
      decodeByNode(shifted.slice(0, before + bytes.length)),
    );
  }
}

describe('encodeByKernel(): a text', () => {
  it.each([
    '',
    'a',
    'ASCII of some length',
    'ünïcode',
    '€uro',
    '𝄞 clef',
    '\0 and \u001f',
    '\ufeff',
  ])('%j is the same after encoding and decoding', (value) => {
    const utf8 = encodeByKernel(value);
    expect(utf8).toEqual(new TextEncoder().encode(value));
    expect(utf8 && decodeByKernel(utf8)).toBe(value);
  });

  it('of 16,384 bytes is accepted, and one more is refused', () => {
    expect(encodeByKernel('x'.repeat(16_384))).toHaveLength(16_384);
    expect(encodeByKernel('x'.repeat(16_385))).toBeUndefined();
    expect(encodeByKernel('short')).toEqual(new TextEncoder().encode('short'));
  });
});

describe('encodeByKernel(): bytes in hexadecimal', () => {
  it('have two digits each, for up to 64 bytes', () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    for (const [start, end] of [
      [0, 64],
      [64, 128],
      [128, 192],
      [192, 256],
      [5, 5],
      [9, 10],
    ]) {
      const part = bytes.slice(start, end);
      expect(hexByKernel(part)).toBe(Buffer.from(part).toString('hex'));
    }
    expect(() => hexByKernel(new Uint8Array(65))).toThrow('unreachable');
  });
});

describe('encodeByKernel(): malformed UTF-8 (RFC 3629) is refused', () => {
  it('at the edges of every range of first and second bytes', () => {
    const edges = [0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff];
    for (let first = 0x80; first < 0x100; first++) {
      for (const second of edges) {
        for (const third of [0x41, 0x7f, 0x80, 0xbf, 0xc0]) {
          expectSame(Uint8Array.of(first, second, third, 0x80));
        }
      }
      expectSame(Uint8Array.of(first));
    }
  });

  it('wherever a strict decoder refuses it', () => {
    const byte = fc.oneof(
      fc.integer({ min: 0, max: 255 }),
      fc.constantFrom(0xe2, 0x82, 0xac, 0xf0),
    );
    fc.assert(
      fc.property(fc.array(byte, { maxLength: 40 }), (bytes) => expectSame(Uint8Array.from(bytes))),
      { numRuns: 2_000 },
    );
  });
});

describe('encodeByKernel(): a text that is not for the kernel', () => {
  it('is printed, and the reject message of a call is unchanged', () => {
    text.give('a log line');
    expect(text.host.system.printed).toEqual(['a log line']);
    text.host.system.rejectMessage = 'no route';
    expect(text.take()).toBe('no route');
    expect(encodeByKernel('taken')).toHaveLength(5);
    expect(text.host.system.printed).toHaveLength(1);
    expect(decodeByKernel(Uint8Array.of(0x6f, 0x6b))).toBe('ok');
    expect(text.take()).toBe('no route');
  });
});
