// The .did file: the types and methods as the canister decodes them, in the order and with the
// comments that their sources have.

import type { Commented, InterfaceComments, MethodGroup } from './interface-comments.ts';
import type { InterfaceTypes } from './interface-types.ts';

const preface = `
The interface of the Encrypted File Storage canister. Written by the build: see src/actor.

Results are variants: \`err\` is "Code: sentence", such as "NoSuchFile: File … does not exist …". Times are
nanoseconds since 1970 (int), sizes bytes (nat). Who gives an \`apiKey\` acts by that key, else by the
own principal. What is \`opt\` may be left out; but what is there has to be of its type. Arguments of
methods that take several are named before their sentences, in brackets.
`;

const indent = '    ';

/** Throws where the sources and the canister do not have the same names. */
export function interfaceText(written: InterfaceTypes, comments: InterfaceComments): string {
  requireSame(
    'type',
    Object.keys(written.types),
    comments.types.map(({ name }) => name),
  );
  const methods = comments.groups.flatMap((group) => group.methods.map(({ name }) => name));
  requireSame('method', Object.keys(written.methods), methods);
  return [
    ...comment(preface.trim().split('\n')),
    '',
    ...comments.types.flatMap((type) => [...typeLines(type, written.types), '']),
    `service: (${written.init.join(', ')}) -> {`,
    ...comments.groups.flatMap((group) => [...groupLines(group, written.methods), '']).slice(0, -1),
    '}',
    '',
  ].join('\n');
}

function requireSame(what: string, written: readonly string[], commented: readonly string[]): void {
  for (const [one, other] of [
    [written, commented],
    [commented, written],
  ] as const) {
    const absent = one.find((name) => !other.includes(name));
    if (absent !== undefined) {
      throw new Error(`The ${what} ${absent} is in src/actor or in the interface, but not in both`);
    }
  }
}

function comment(lines: readonly string[], before = ''): string[] {
  return lines.map((line) => `${before}// ${line}`.trimEnd());
}

function typeLines(
  { name, comment: words, fields }: Commented & { readonly fields: readonly Commented[] },
  types: InterfaceTypes['types'],
): string[] {
  const type = types[name];
  const head = comment(words);
  if (type === undefined || typeof type === 'string') return [...head, `type ${name} = ${type};`];
  // Those of the type library are in the order of their hashes.
  const lines = fields.flatMap((field) => {
    const written = type.fields[field.name] ?? type.fields[`"${field.name}"`];
    if (written === undefined) throw new Error(`The type ${name} has no field ${field.name}`);
    const label = field.name in type.fields ? field.name : `"${field.name}"`;
    const line = written === '' ? `  ${label};` : `  ${label}: ${written};`;
    return [...comment(field.comment, '  '), line];
  });
  return [...head, `type ${name} = ${type.kind} {`, ...lines, '};'];
}

/** A heading, and each method in a line of its own below what is said of it. */
function groupLines(group: MethodGroup, methods: InterfaceTypes['methods']): string[] {
  const heading = comment([`---- ${group.comment.join(' ')}`], indent);
  const lines = group.methods.flatMap(({ name, comment: words }) => [
    '',
    ...comment(words, indent),
    `${indent}${name}: ${methods[name]};`,
  ]);
  return [...heading, ...lines];
}
