// Reads docs/reference/http.md: one section for each operation, with the sentences, a table of the
// fields and an example that is run.

export interface Section {
  /** Method and path: `PUT B/files/{path}`. */
  readonly heading: string;
  /** The heading above: the operations of one are a group. */
  readonly group: string;
  readonly sentences: string;
  /** The tables' sentences on each parameter of the query, by its name. */
  readonly parameters: ReadonlyMap<string, string>;
  /** The same for header fields, and fields of bodies. */
  readonly fields: ReadonlyMap<string, string>;
  /** Commands for a shell. */
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
  // The variables that the examples use are defined above all sections
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

/** Markdown without links, which would be relative to the page. */
function plain(text: string): string {
  return text
    .replace(/<!--.*?-->/gs, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** Rows whose first cell has names in code; of rows for one name the first counts. */
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
