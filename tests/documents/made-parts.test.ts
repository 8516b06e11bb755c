// Generated parts of pages match their sources. `npm run documents` writes them.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createProgram } from '../../packages/efs/src/efs.ts';
import { projectDir } from '../tidy/source-tree.ts';
import { commandReference } from './support/command-reference.ts';
import { readPages } from './support/pages.ts';
import { drawTerminal } from './support/terminal-picture.ts';

const isWriting = process.env.EFS_WRITE === '1';

/** Whether the file has the text; makes it so when that is asked for. */
function isAsMade(path: string, text: string): boolean {
  const whole = join(projectDir, path);
  if (isWriting) writeFileSync(whole, text);
  return existsSync(whole) && readFileSync(whole, 'utf8') === text;
}

test('the reference of the command says what its help says', () => {
  const path = 'docs/reference/command.md';
  const page = readFileSync(join(projectDir, path), 'utf8');
  const [before = '', rest = ''] = page.split('<!-- commands:start -->\n');
  const [, after = ''] = rest.split('\n<!-- commands:end -->');
  const made = commandReference(createProgram());
  const text = `${before}<!-- commands:start -->\n${made}\n<!-- commands:end -->${after}`;
  expect(isAsMade(path, text), 'npm run documents writes it').toBe(true);
});

test('pictures are drawn of the transcripts that are run', () => {
  const stale = readPages()
    .flatMap(({ blocks }) => blocks)
    .filter(({ picture, text }) => {
      return picture !== undefined && !isAsMade(`docs/pictures/${picture}`, drawTerminal(text));
    });
  expect(
    stale.map(({ picture }) => picture),
    'npm run documents draws them',
  ).toEqual([]);
});
