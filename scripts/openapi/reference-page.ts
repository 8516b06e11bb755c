// Reads docs/reference/http.md: one section per operation, with sentences, a table of the fields
// and a tested example.

export interface Section {
  /** Method and path: `PUT B/files/{path}`. */
  readonly heading: string;
  /** The parent heading, whose operations form a group. */
  readonly group: string;
  readonly sentences: string;
  /** The sentences on each query parameter in the tables, by name. */
  readonly parameters: ReadonlyMap<string, string>;
  /** The sentences on header fields and fields of bodies, by name. */
  readonly fields: ReadonlyMap<string, string>;
  /** Shell commands. */
  readonly example: string;
}

const headingPattern = /^[A-Z]+ \S+$/;

export function readSections(page: string): Section[] {
  return page.split(/^## /m).flatMap((part) => {
    const [group = '', ...sections] = part.split(/^### /m);
    const [title = ''] = group.split('\n', 1);
    return sections
      .map((section) => readSection(title, section))
      .filter(({ heading }) => headingPattern.test(heading));
  });
}

function readSection(group: string, section: string): Section {
  const [heading = '', ...rest] = section.split('\n');
  // The variables of the examples are defined before all sections
  const example = /^```sh\n(.*?)\n```$/ms.exec(section)?.[1] ?? '';
  const text = rest.join('\n').replace(/^```.*?^```$/gms, '');
  const tables = text.match(/(?:^\|.*\n)+/gm) ?? [];
  const isOfQuery = (table: string) => table.startsWith('| parameter');
  return {
    heading,
    group,
    sentences: plain(text.replace(/^\|.*\n/gm, '')),
    parameters: sentencesIn(tables.filter(isOfQuery)),
    fields: sentencesIn(tables.filter((table) => !isOfQuery(table))),
    example,
  };
}

/** Removes links from Markdown, because they would be relative to the page. */
function plain(text: string): string {
  return text
    .replace(/<!--.*?-->/gs, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** Reads rows whose first cell has names in code; the first row of a name counts. */
function sentencesIn(tables: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const row of tables.join('').split('\n')) {
    const [names = '', said = ''] = row
      .split('|')
      .slice(1)
      .map((cell) => cell.trim());
    for (const [, name = ''] of names.matchAll(/`([^`]+?)\??`/g)) {
      if (!found.has(name)) found.set(name, plain(said));
    }
  }
  return found;
}
