// Generates docs/reference/actor.md from the text and the comments of the .did file: the methods of
// the interface as tables, and its types.

const head = `# Methods of the actor

Generated from \`candid/file_storage.did\`, which any Candid tool can read; do not edit.
`;

interface Section {
  readonly words: string;
  /** Rows of its table. */
  readonly rows: string[];
}

export function actorReference(interfaceText: string): string {
  const [types = '', service = ''] = interfaceText.split(/^service: /m);
  const [preface = ''] = types.split('\n\n', 1);
  const sections = sectionsOf(service.split('\n').slice(1));
  const isType = (block: string) => /^type /m.test(block);
  return [
    head,
    // The preface without its first paragraph, which describes the .did file
    `${words(preface.split('\n//\n').slice(1))}\n`,
    ...sections.map(sectionText),
    '## Types\n',
    ['```candid', types.split('\n\n').filter(isType).join('\n\n').trim(), '```', ''].join('\n'),
  ].join('\n');
}

function words(lines: readonly string[]): string {
  return lines.map((line) => line.replaceAll(/^ *\/\/ ?/gm, '').replaceAll('\n', ' ')).join(' ');
}

function sectionsOf(lines: readonly string[]): Section[] {
  const sections: Section[] = [];
  let comment: string[] = [];
  for (const line of lines) {
    const [, heading] = /^ {4}\/\/ ---- (.*)$/.exec(line) ?? [];
    const [, name, signature] = /^ {4}(\w+): (.*);$/.exec(line) ?? [];
    if (heading !== undefined) {
      sections.push({ words: heading, rows: [] });
    } else if (name !== undefined && signature !== undefined) {
      sections.at(-1)?.rows.push(row(name, signature, words(comment)));
      comment = [];
    } else if (line !== '') {
      comment.push(line);
    }
  }
  return sections;
}

function row(name: string, signature: string, comment: string): string {
  const kind = signature.endsWith(' query') ? 'query' : 'update';
  const types = signature.replace(/ query$/, '');
  return `| \`${name}\` | ${kind} | \`${types}\` | ${comment} |`;
}

/** The title is the text before the first colon or period. */
function sectionText({ words: heading, rows }: Section): string {
  const [title = heading] = heading.split(/[:.]/, 1);
  const table = [
    '| method | kind | arguments and result | |',
    '| --- | --- | --- | --- |',
    ...rows,
  ];
  return [`## ${title}`, '', heading, '', ...table, ''].join('\n');
}
