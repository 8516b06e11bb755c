// Secrets typed at a terminal: hidden, edited by the usual keys, and cancelled by Ctrl-C.

import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { askHidden, hasTerminal, type Terminal } from '../../packages/efs/src/config/passphrase.ts';

/** Returns everything that was written: since Node 26, `read()` returns one part. */
function allOf(output: PassThrough): string {
  let text = '';
  for (let part = output.read(); part !== null; part = output.read()) text += String(part);
  return text;
}

function typing(...parts: string[]) {
  const modes: boolean[] = [];
  const input = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (isRaw: boolean) => void modes.push(isRaw),
  });
  const output = Object.assign(new PassThrough(), { isTTY: true });
  const terminal = { input, output } as unknown as Terminal;
  const asked = askHidden('Passphrase: ', terminal);
  for (const part of parts) input.write(part);
  return { asked, terminal, modes, shown: () => allOf(output) };
}

describe('askHidden()', () => {
  test.each([
    [['secret\r'], 'secret'],
    [['sec', 'ret', '\n'], 'secret'],
    [['secrets\x7f\r'], 'secret'],
    [['é文\x08x\r'], 'éx'],
    [['\r'], ''],
  ])('%j yields %j', async (parts, secret) => {
    const { asked, modes, shown, terminal } = typing(...parts);
    expect(await asked).toBe(secret);
    expect(shown()).toBe('Passphrase: \n');
    expect(modes).toEqual([true, false]);
    expect(hasTerminal(terminal)).toBe(true);
  });

  test.each(['\x03', '\x04'])('%j aborts the input', async (key) => {
    const { asked, modes } = typing('sec', key);
    await expect(asked).rejects.toThrow('stopped');
    expect(modes).toEqual([true, false]);
  });
});
