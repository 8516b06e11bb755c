// Generates the client's part of the interface with the official generator: the TypeScript types
// and the factory of the .did file.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { generate } from '@icp-sdk/bindgen/core';

/** Returns the module's text. */
export async function clientInterface(didFile: string): Promise<string> {
  const outDir = await mkdtemp(join(tmpdir(), 'client-interface-'));
  try {
    const output = {
      actor: { disabled: true as const },
      declarations: { typescript: true, flat: true },
    };
    await generate({ didFile, outDir, output });
    const text = await readFile(join(outDir, `${basename(didFile)}.ts`), 'utf8');
    // The factory receives the library as an argument, so the module needs only its types.
    const library = "import { IDL } from '@icp-sdk/core/candid';";
    if (!text.includes(library)) throw new Error(`The generated text lacks ${library}`);
    const typed = text.replace(library, library.replace('import {', 'import type {'));
    // The generator spreads a comment of one line over three.
    return typed.replace(/\/\*\*\n *\* ([^\n]*)\n *\*\//g, '/** $1 */');
  } finally {
    await rm(outDir, { recursive: true });
  }
}
