// Reads pages: their fenced blocks in order, and for each the directives in HTML comments before
// it. Readers do not see the comments:
//   <!-- test: run … -->     commands that prepare what the page assumes
//   <!-- test: before … -->  lines before the next block of a program
//   <!-- test: file NAME --> the next block is that file
//   <!-- test: types -->     the next block is for browsers: checked and bundled, not run
//   <!-- test: fails -->     the last command of the next block is expected to fail
//   <!-- test: drawing -->   the next block of text is not output
//   <!-- test: docstring --> the next block is a docstring's example, which examples.test.ts runs
//   <!-- test: picture NAME … -->  a transcript, from which docs/pictures/NAME is drawn
//   <!-- test: canister -->  the next block is a canister, which backend-canister.test.ts checks
// A block of text is the output of the commands before it; a `console` block has both, commands
// after `$ `.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir } from '../../tidy/source-tree.ts';

export interface Block {
  /** Language of the fence; `sh` for the text of a `run` comment. */
  readonly language: string;
  readonly text: string;
  readonly line: number;
  readonly file?: string;
  readonly before?: string;
  /** The file in docs/pictures that is drawn from the block. */
  readonly picture?: string;
  /** False for a block in an HTML comment. */
  readonly isFenced: boolean;
  readonly isForBrowsers: boolean;
  readonly isFailing: boolean;
  readonly isDrawing: boolean;
  readonly isOfDocstring: boolean;
  readonly isCanister: boolean;
}

export interface Page {
  /** Relative to the project's root. */
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
}

export function readPages(): Page[] {
  const docs = readdirSync(join(projectDir, 'docs'), { recursive: true, encoding: 'utf8' });
  const packages = ['client', 'elements', 'efs', 'replica'].map(
    (name) => `packages/${name}/README.md`,
  );
  const paths = [
    'README.md',
    ...docs.filter(isMarkdown).map((name) => `docs/${name}`),
    ...packages,
  ];
  return paths.sort().map(readPage);
}

function isMarkdown(name: string): boolean {
  return name.endsWith('.md');
}

function readPage(path: string): Page {
  const text = readFileSync(join(projectDir, path), 'utf8');
  return { path, text, blocks: blocksOf(text) };
}

const itemPattern =
  /^<!-- test: (?<word>[a-z]+) ?(?<said>[\s\S]*?)-->$|^(?<indent> *)```(?<language>\w*)\n(?<code>[\s\S]*?)^\k<indent>```$/gm;

function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  let notes = new Map<string, string>();
  for (const match of text.matchAll(itemPattern)) {
    const { word, said = '', indent = '', language = '', code = '' } = match.groups ?? {};
    const line = text.slice(0, match.index).split('\n').length;
    if (word === 'run') {
      blocks.push(blockOf('sh', said, line, new Map([['run', '']])));
    } else if (word === 'picture') {
      const [name = '', ...lines] = said.split('\n');
      blocks.push(blockOf('console', lines.join('\n'), line, new Map([['picture', name.trim()]])));
    } else if (word !== undefined) {
      notes.set(word, said.trim());
    } else {
      const plain = code.replaceAll(`\n${indent}`, '\n').slice(indent.length);
      blocks.push(blockOf(language, plain, line, notes));
      notes = new Map();
    }
  }
  return blocks;
}

function blockOf(
  language: string,
  text: string,
  line: number,
  notes: ReadonlyMap<string, string>,
): Block {
  const file = notes.get('file');
  const before = notes.get('before');
  const picture = notes.get('picture');
  return {
    language,
    text,
    line,
    ...(file !== undefined && { file }),
    ...(before !== undefined && { before }),
    ...(picture !== undefined && { picture }),
    isFenced: !notes.has('picture') && !notes.has('run'),
    isForBrowsers: notes.has('types'),
    isFailing: notes.has('fails'),
    isDrawing: notes.has('drawing'),
    isOfDocstring: notes.has('docstring'),
    isCanister: notes.has('canister'),
  };
}
