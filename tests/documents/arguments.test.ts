// The arguments of commands that tests do not run must have the service's types.

import { IDL } from '@icp-sdk/core/candid';
import { expect, test } from 'vitest';
import { idlFactory, init } from '../../packages/client/src/candid/file_storage.did.ts';
import { readArguments } from './support/candid-text.ts';
import { readPages } from './support/pages.ts';
import { commandsOf, isNotRun } from './support/shell.ts';

interface Argument {
  readonly text: string;
  readonly types: readonly IDL.Type[];
}

const methods = new Map(idlFactory({ IDL })._fields);

function argumentsOf(command: string): Argument[] {
  const [, method = '', given] = / canister call \w+ (\w+) '([^']+)'/.exec(command) ?? [];
  const [, first] = / --arg(?:s|ument) '([^']+)'/.exec(command) ?? [];
  const call =
    given === undefined ? [] : [{ text: given, types: methods.get(method)?.argTypes ?? [] }];
  return first === undefined ? call : [...call, { text: first, types: init({ IDL }) }];
}

test('arguments of commands that tests do not run can be encoded', () => {
  const shells = readPages().flatMap(({ blocks }) => blocks);
  const commands = shells.filter(({ language }) => language === 'sh').map(({ text }) => text);
  const found = commands.flatMap(commandsOf).filter(isNotRun).flatMap(argumentsOf);
  expect(found.length).toBeGreaterThan(2);
  for (const { text, types } of found) {
    const values = readArguments(text, types);
    expect(IDL.encode([...types], values).length, text).toBeGreaterThan(4);
  }
});
