// docs/reference/openapi.json in third-party tools: a linter, and a generator of types.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import generate, { astToString } from 'openapi-typescript';
import { expect, test } from 'vitest';
import { openApiOf } from '../../scripts/openapi/document.ts';
import { projectDir } from '../tidy/source-tree.ts';
import { typeErrors } from './support/programs.ts';

const path = join(projectDir, 'docs/reference/openapi.json');

async function problemsOf(source: string): Promise<string[]> {
  const config = await createConfig({
    extends: ['recommended'],
    // The file names the local replica as a server, and http.md explains the tags
    rules: { 'no-server-example.com': 'off', 'tag-description': 'off' },
  });
  const problems = await lintFromString({ source, absoluteRef: path, config });
  return problems.map(({ severity, ruleId, message, location }) => {
    return `${severity} ${ruleId}: ${message} at ${location[0]?.pointer}`;
  });
}

test('the linter finds no fault in openapi.json', async () => {
  expect(await problemsOf(readFileSync(path, 'utf8'))).toEqual([]);
});

test('the linter finds a faulty operation', async () => {
  const source = readFileSync(path, 'utf8').replace('"operationId": "uploadFile"', '"x": 1');
  expect((await problemsOf(source)).join()).toContain('operationId');
});

test('openApiOf refuses a page that differs from the routes or the descriptions', () => {
  const page = readFileSync(join(projectDir, 'docs/reference/http.md'), 'utf8');
  const made = (from: string, to: string) => () => openApiOf(page.replace(from, to));
  expect(made('', '')).not.toThrow();
  expect(made('### PUT B/files/{path}', '### PUT B/other/{path}')).toThrow('no description');
  expect(made('### DELETE B/links/{id}', '#### DELETE B/links/{id}')).toThrow('no section');
  expect(made('| `startAfter` |', '| `behind` |')).toThrow('behind');
  expect(made('| `downloadName?` |', '| `downloadName?`, `saveAs?` |')).toThrow('saveAs');
});

/** A user's program, with mistakes that the generated types must find. */
const program = `
import type { components, operations } from './service-types.ts';

type Code = components['schemas']['ErrorCode'];
const code: Code = 'NoSuchFile';
// @ts-expect-error No such code
const wrong: Code = 'NoSuchThing';

type Start = operations['beginUpload']['requestBody']['content']['application/json'];
const start: Start = { path: 'film.mp4', size: 3_800_000 };
// @ts-expect-error The path is missing
const pathless: Start = { size: 1 };

type Session = operations['beginUpload']['responses'][201]['content']['application/json'];
const isReady = (session: Session) => session.status === 'ready' && session.missing.length === 0;
console.log(code, wrong, start, pathless, isReady);
`;

test('openapi-typescript generates types from openapi.json that compile', async () => {
  const types = astToString(await generate(pathToFileURL(path)));
  const errors = typeErrors(
    new Map([
      ['service-types.ts', types],
      ['program.ts', program],
    ]),
  );
  expect(errors).toEqual([]);
});
