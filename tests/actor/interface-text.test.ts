// The .did file as a readable text: its types have names and comments, and the official parser
// reads exactly the types that the canister decodes and encodes.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { IDL } from '@dfinity/candid';
import { beforeAll, describe, expect, test } from 'vitest';
import { idlFactory } from '../../packages/client/src/candid/file_storage.did.ts';
import { actorReference } from '../../scripts/actor-reference.ts';
import { clientInterface } from '../../scripts/client-interface.ts';
import { interfaceOutputs } from '../../scripts/interface.ts';
import { type InterfaceComments, readComments } from '../../scripts/interface-comments.ts';
import { interfaceText } from '../../scripts/interface-text.ts';
import { interfaceTypes } from '../../scripts/interface-types.ts';
import * as endToEnd from '../../src/actor/candid/end-to-end.ts';
import * as fileReads from '../../src/actor/candid/file-reads.ts';
import * as http from '../../src/actor/candid/http.ts';
import * as journal from '../../src/actor/candid/journal.ts';
import * as operations from '../../src/actor/candid/operations.ts';
import * as retention from '../../src/actor/candid/retention.ts';
import * as rules from '../../src/actor/candid/rules.ts';
import * as service from '../../src/actor/candid/service.ts';
import * as subscriptions from '../../src/actor/candid/subscriptions.ts';
import * as files from '../../src/actor/candid/types.ts';
import { projectDir } from '../tidy/source-tree.ts';

const didFile = join(projectDir, 'candid', 'file_storage.did');
const records = { ...files, ...fileReads, ...endToEnd, ...retention, ...rules, ...operations };
const exported = { ...records, ...service, ...journal, ...subscriptions, ...http };
const named = new Map(Object.entries<unknown>(exported));
let text: string;
let comments: InterfaceComments;

beforeAll(async () => {
  text = await readFile(didFile, 'utf8');
  comments = await readComments(projectDir);
});

/** Returns the interface as the official parser reads it. */
function parsedService(): IDL.ServiceClass {
  return (idlFactory as unknown as (kit: object) => IDL.ServiceClass)({ IDL });
}

/** Returns the element type of an option or a list, and any other type itself. */
function within(type: IDL.Type): IDL.Type {
  const isOuter = type instanceof IDL.OptClass || type instanceof IDL.VecClass;
  return isOuter ? within((type as unknown as { _type: IDL.Type })._type) : type;
}

/** Returns the types of arguments and results by their names in the text. */
function parsedTypes(text: string): [name: string, type: IDL.Type][] {
  const fields = new Map<string, IDL.FuncClass>(parsedService()._fields);
  const signatures = text.matchAll(/^ {4}(\w+): \((.*?)\) -> \((.*)\)(?: query)?;$/gm);
  return [...signatures].flatMap(([, method = '', argument = '', result = '']) => {
    const { argTypes, retTypes } = fields.get(method) ?? IDL.Func([], []);
    const [, ok] = /^variant \{ok:(?:vec )?(\w+);/.exec(result) ?? [];
    const [answer] = retTypes as IDL.Type[];
    const held = answer instanceof IDL.VariantClass ? answer._fields[0]?.[1] : answer;
    const types = [
      [argument.replace(/^opt /, ''), argTypes[0]],
      [ok ?? result, held],
    ] as [string, IDL.Type | undefined][];
    return types.flatMap(([name, type]): [string, IDL.Type][] =>
      type ? [[name, within(type)]] : [],
    );
  });
}

describe('interfaceText(): the text of the interface', () => {
  test('has a comment above each type, each method and each group of methods', () => {
    const { groups, types } = comments;
    const all = [...types, ...groups, ...groups.flatMap(({ methods }) => methods)];
    expect(all.length).toBeGreaterThan(80);
    expect(all.filter(({ comment }) => comment.length === 0)).toEqual([]);
    const long = all.filter(
      ({ comment }) => comment.length > 3 || /see [\w-]+\.ts/.test(`${comment}`),
    );
    expect(long).toEqual([]);
  });

  test('lists in comments the errors that the service returns', async () => {
    const source = await readFile(join(projectDir, 'src/domain/shared/refusal.ts'), 'utf8');
    const words = comments.groups.flatMap(({ methods }) =>
      methods.flatMap(({ comment }) => {
        const [, errors = ''] = comment.join(' ').split('Errors: ');
        return errors.match(/\b[A-Z]\w+/g) ?? [];
      }),
    );
    expect(words.length).toBeGreaterThan(10);
    expect(words.filter((word) => !source.includes(`'${word}'`))).toEqual([]);
  });

  test('names the arguments of each method with several arguments', () => {
    const several = parsedService()._fields.filter(([, { argTypes }]) => argTypes.length > 1);
    const said = new Map(
      comments.groups.flatMap(({ methods }) =>
        methods.map(({ name, comment }) => [name, /^\(([\w, ]+)\) /.exec(comment[0] ?? '')?.[1]]),
      ),
    );
    expect(several.length).toBeGreaterThan(10);
    for (const [name, { argTypes }] of several) {
      expect(said.get(name)?.split(', '), name).toHaveLength(argTypes.length);
    }
  });

  test('has no anonymous record and no unused name', () => {
    const code = text.replaceAll(/\/\/.*$/gm, '');
    expect(code.match(/.*[:(] ?(?:opt |vec )*record.*/g)).toBeNull();
    const names = [...code.matchAll(/^type (\w+) =/gm)].map(([, name = '']) => name);
    expect(names.filter((name) => code.split(new RegExp(`\\b${name}\\b`)).length < 3)).toEqual([]);
    expect(names.filter((name) => !named.has(name))).toEqual([]);
  });

  test("is equivalent to the actor's types, as subtypes of each other", () => {
    const compared = parsedTypes(text).filter(([name]) => named.has(name));
    for (const [name, parsed] of compared) {
      const own = named.get(name) as IDL.Type;
      expect(IDL.subtype(parsed, own), name).toBe(true);
      expect(IDL.subtype(own, parsed), name).toBe(true);
    }
    expect(new Set(compared.map(([name]) => name)).size).toBeGreaterThan(30);
  });

  test('equals the output of the build from types and comments', () => {
    const none = { initAndPostUpgradeParamIdlTypes: [] };
    const { types } = JSON.parse(interfaceTypes(IDL.Service({}), none));
    const lines = [...text.matchAll(/^ {4}(\w+): (.*);$/gm)];
    const methods = Object.fromEntries(lines.map(([, name, signature]) => [name, signature]));
    const written = { init: ['opt Settings'], types, methods, display: '' };
    expect(interfaceText(written, comments)).toBe(text);
  });

  test('is refused by the build if a type or a method has no comment', () => {
    const written = { init: [], types: { A: 'text' }, methods: {}, display: '' };
    expect(() => interfaceText(written, { groups: [], types: [] })).toThrow('type A');
  });

  test("is the source of the client's types and of the reference", async () => {
    const read = (path: string) => readFile(join(projectDir, path), 'utf8');
    expect(await read(interfaceOutputs.client)).toBe(await clientInterface(didFile));
    expect(await read(interfaceOutputs.reference)).toBe(actorReference(text));
  });
});
