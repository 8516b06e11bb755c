// Generated parts of pages match their sources. `npm run documents` writes them.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createProgram } from '../../packages/efs/src/efs.ts';
import { webMcpPaths } from '../../scripts/console.ts';
import { apiDoc } from '../../scripts/descriptions/api-doc.ts';
import { roles, webMcp } from '../../scripts/descriptions/web-mcp.ts';
import { openApiText } from '../../scripts/openapi/document.ts';
import { projectDir } from '../tidy/source-tree.ts';
import { commandReference } from './support/command-reference.ts';
import { libraryReference } from './support/library-reference.ts';
import { readPages } from './support/pages.ts';
import { drawTerminal } from './support/terminal-picture.ts';

const isWriting = process.env.EFS_WRITE === '1';

/** Whether the file has the text; writes it if requested. */
function isAsMade(path: string, text: string): boolean {
  const whole = join(projectDir, path);
  if (isWriting) writeFileSync(whole, text);
  return existsSync(whole) && readFileSync(whole, 'utf8') === text;
}

/** Whether the generated part of the page, between two comments, is `made`. */
function isPartAsMade(path: string, part: string, made: string): boolean {
  const page = readFileSync(join(projectDir, path), 'utf8');
  const [before = '', rest = ''] = page.split(`<!-- ${part}:start -->\n`);
  const [, after = ''] = rest.split(`\n<!-- ${part}:end -->`);
  return isAsMade(path, `${before}<!-- ${part}:start -->\n${made}\n<!-- ${part}:end -->${after}`);
}

test('command.md contains the help of each command', () => {
  const made = commandReference(createProgram());
  const isMade = isPartAsMade('docs/reference/command.md', 'commands', made);
  expect(isMade, 'npm run documents writes it').toBe(true);
});

test('library.md contains the docstrings of each method and record', () => {
  const isMade = isPartAsMade('docs/reference/library.md', 'methods', libraryReference());
  expect(isMade, 'npm run documents writes it').toBe(true);
});

test('openapi.json is generated from the routes and http.md', async () => {
  const isMade = isAsMade('docs/reference/openapi.json', await openApiText());
  expect(isMade, 'npm run documents writes it').toBe(true);
});

test('api-doc.md is generated from the limits', async () => {
  expect(isAsMade('candid/api-doc.md', await apiDoc()), 'npm run documents writes it').toBe(true);
});

test.each(roles)('the tools of a %s are generated from the interface', (role) => {
  const did = readFileSync(join(projectDir, 'candid/file_storage.did'), 'utf8');
  const path = webMcpPaths[role];
  expect(isAsMade(path, webMcp(did, role)), 'npm run documents writes it').toBe(true);
});

test('pictures are drawn from the transcripts that tests run', () => {
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
