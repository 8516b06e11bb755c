// Reads the types and methods of candid/file_storage.did with their comments. It understands the
// notation that interface-text.ts writes, one field or method a line, and no other.

export interface CandidField {
  readonly name: string;
  /** In Candid's notation; '' for the type null. */
  readonly type: string;
  readonly comment: string;
}

export interface NamedType {
  /** The notation, if it is not a record or variant over several lines. */
  readonly type: string | undefined;
  readonly kind: 'record' | 'variant' | undefined;
  readonly fields: readonly CandidField[];
}

export interface CandidMethod {
  readonly name: string;
  /** Names of the arguments, where the comment begins with them. */
  readonly argumentNames: readonly string[];
  readonly arguments: readonly string[];
  readonly result: string;
  readonly isQuery: boolean;
  /** Without the names of the arguments. */
  readonly comment: string;
}

export interface CandidInterface {
  readonly types: ReadonlyMap<string, NamedType>;
  readonly methods: ReadonlyMap<string, CandidMethod>;
}

const typePattern = /^type (\w+) = (.*?)(;?)$/;
const methodPattern = /^ {4}(\w+): \((.*)\) -> \((.*)\)( query)?;$/;

export function readInterface(text: string): CandidInterface {
  const types = new Map<string, NamedType>();
  const methods = new Map<string, CandidMethod>();
  const lines = text.split('\n');
  let comment: string[] = [];
  for (const [index, line] of lines.entries()) {
    const [, words] = /^ *\/\/ ?(.*)$/.exec(line) ?? [];
    const [, typeName, type = '', end] = typePattern.exec(line) ?? [];
    const method = readMethod(line, comment.join(' '));
    if (typeName !== undefined) {
      const single = { type, kind: undefined, fields: [] };
      types.set(typeName, end === ';' ? single : readFields(type, lines.slice(index + 1)));
    }
    if (method !== undefined) methods.set(method.name, method);
    comment = words === undefined ? [] : [...comment, words];
  }
  return { types, methods };
}

/** `head`: such as `record {`; `lines`: those after it. */
function readFields(head: string, lines: readonly string[]): NamedType {
  const fields: CandidField[] = [];
  let comment: string[] = [];
  for (const line of lines.slice(0, lines.indexOf('};'))) {
    const [, words] = /^ {2}\/\/ ?(.*)$/.exec(line) ?? [];
    if (words !== undefined) {
      comment.push(words);
      continue;
    }
    fields.push({ ...fieldOf(line.trim().replace(/;$/, '')), comment: comment.join(' ') });
    comment = [];
  }
  return { type: undefined, kind: head.startsWith('record') ? 'record' : 'variant', fields };
}

/** Reads `name: type`, or a name with the type null. */
export function fieldOf(text: string): Omit<CandidField, 'comment'> {
  const [, name = '', type = ''] = /^"?(\w+)"?(?:: ?(.*))?$/s.exec(text) ?? [];
  return { name, type };
}

function readMethod(line: string, comment: string): CandidMethod | undefined {
  const [, name, from, result = '', query] = methodPattern.exec(line) ?? [];
  if (name === undefined || from === undefined) return undefined;
  const [names = '', listed = ''] = /^\(([\w, ]+)\) /.exec(comment) ?? [];
  return {
    name,
    argumentNames: listed === '' ? [] : listed.split(', '),
    arguments: partsOf(from, ','),
    result,
    isQuery: query !== undefined,
    comment: comment.slice(names.length),
  };
}

/** Splits at separators outside of brackets. */
export function partsOf(text: string, separator: ',' | ';'): string[] {
  const parts = [''];
  let depth = 0;
  for (const character of text) {
    if (/[{(]/.test(character)) depth++;
    if (/[})]/.test(character)) depth--;
    if (character === separator && depth === 0) parts.push('');
    else parts.push(`${parts.pop()}${character}`);
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}
