// Generates the .did file: the types and methods of the canister, in the order and with the
// comments of their sources.

import type { Commented, InterfaceComments, MethodGroup } from './interface-comments.ts';
import type { InterfaceTypes } from './interface-types.ts';

const preface = `
The interface of the Encrypted File Storage canister. Written by the build: see src/actor.

Results are variants: \`err\` is "Code: sentence", such as "NoSuchFile: File … does not exist …". Times are
nanoseconds since 1970 (int); sizes are bytes (nat). A call with an \`apiKey\` has the rights of that key,
otherwise those of the caller's principal. An \`opt\` value can be omitted; if present, it must have the
declared type. For methods with several arguments, the comment begins with their names in brackets.
`;

const indent = '    ';

/** Throws if the sources and the canister name different types or methods. */
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
  // In the order of the source; the type library orders fields by their hashes.
  const lines = fields.flatMap((field) => {
    const written = type.fields[field.name] ?? type.fields[`"${field.name}"`];
    if (written === undefined) throw new Error(`The type ${name} has no field ${field.name}`);
    const label = field.name in type.fields ? field.name : `"${field.name}"`;
    const line = written === '' ? `  ${label};` : `  ${label}: ${written};`;
    return [...comment(field.comment, '  '), line];
  });
  return [...head, `type ${name} = ${type.kind} {`, ...lines, '};'];
}

/** Returns a heading, and each method on its own line below its comment. */
function groupLines(group: MethodGroup, methods: InterfaceTypes['methods']): string[] {
  const heading = comment([`---- ${group.comment.join(' ')}`], indent);
  const lines = group.methods.flatMap(({ name, comment: words }) => [
    '',
    ...comment(words, indent),
    `${indent}${name}: ${methods[name]};`,
  ]);
  return [...heading, ...lines];
}
