// Writes the interface at build time: the .did file, the client's module, and the reference of
// methods in docs/. Parts that only writeInterface() needs are imported inside it: loading
// TypeScript takes a second, and every start of the replica loads this file.

import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { IDL } from '@dfinity/candid';
import { actorReference } from './actor-reference.ts';
import { interfaceText } from './interface-text.ts';
import type { InterfaceTypes } from './interface-types.ts';

/** Relative to the project's folder. */
export const interfaceOutputs = {
  client: 'packages/client/src/candid/file_storage.did.ts',
  reference: 'docs/reference/actor.md',
};

/** `types` come from the canister's engine. Throws if the generated text has other types. */
export async function writeInterface(
  types: InterfaceTypes,
  paths: { readonly projectDir: string; readonly candid: string },
): Promise<void> {
  const { projectDir, candid } = paths;
  const { readComments } = await import('./interface-comments.ts');
  const { clientInterface } = await import('./client-interface.ts');
  const text = interfaceText(types, await readComments(projectDir));
  await writeFile(candid, text);
  const client = join(projectDir, interfaceOutputs.client);
  await mkdir(dirname(client), { recursive: true });
  await writeFile(client, await clientInterface(candid));
  const { idlFactory } = await import(pathToFileURL(client).href);
  if (idlFactory({ IDL }).display() !== types.display) {
    throw new Error(
      `${candid} does not match the types that the canister decodes: see interface-text.ts`,
    );
  }
  const reference = join(projectDir, interfaceOutputs.reference);
  await mkdir(dirname(reference), { recursive: true });
  await writeFile(reference, actorReference(text));
}
