// Every block of every page is run, or checked as far as possible.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { projectDir } from '../tidy/source-tree.ts';
import {
  programOfElementExamples,
  programOfExamples,
  readElementExamples,
  readExamples,
} from './support/examples.ts';
import { notRun } from './support/not-run.ts';
import { type PageService, startPageService } from './support/page-service.ts';
import { type Block, type Page, readPages } from './support/pages.ts';
import { bundleProgram, isProgram, programOf, typeErrors } from './support/programs.ts';
import { commandsOf, isNotRun, outputPattern, runShell, stepsOf } from './support/shell.ts';

const pages = readPages();

test('every program of the pages and docstrings passes the type check', () => {
  const programs = new Map([
    ['examples.ts', programOfExamples(readExamples())],
    ['element-examples.ts', programOfElementExamples(readElementExamples())],
  ]);
  for (const { path, blocks } of pages) {
    const programsOfPage = blocks.filter((block) => isProgram(block) && !block.isOfDocstring);
    for (const block of programsOfPage) {
      programs.set(`${path}-${block.line}.ts`, programOf(block));
    }
  }
  expect(typeErrors(programs)).toEqual([]);
});

test('every example that is not run exists and has a reason', () => {
  const shells = pages.flatMap(({ blocks }) => blocks.filter(({ language }) => language === 'sh'));
  const left = shells.flatMap(({ text }) => commandsOf(text)).filter(isNotRun);
  const unused = notRun.filter(({ command }) => !left.some((line) => line.startsWith(command)));
  expect(unused).toEqual([]);
});

test('every fenced block is tested', () => {
  const uneven = pages.filter(({ text, blocks }) => {
    const fences = text.match(/^ *```/gm)?.length ?? 0;
    return fences !== 2 * blocks.filter(({ isFenced }) => isFenced).length;
  });
  expect(uneven.map(({ path }) => path)).toEqual([]);
});

describe.concurrent('the blocks of', () => {
  for (const page of pages.filter(({ blocks }) => blocks.length > 0)) {
    test(page.path, () => runPage(page));
  }
});

async function runPage({ path, blocks }: Page): Promise<void> {
  const service = await startPageService();
  try {
    let printed = '';
    for (const block of blocks) {
      const where = `${path}:${block.line}`;
      printed = (await checkBlock(block, { service, where, printed })) ?? printed;
    }
  } finally {
    await service.stop();
  }
}

interface Place {
  readonly service: PageService;
  readonly where: string;
  /** The output of the previous block. */
  readonly printed: string;
}

async function checkBlock(
  block: Block,
  { service, where, printed }: Place,
): Promise<string | undefined> {
  const { language, text } = block;
  if (block.isOfDocstring || block.isCanister) return undefined;
  if (language === 'sh') {
    const { code, output } = await runShell(text, service);
    expect(code === 0, `${where} ended with ${code}:\n${output}`).toBe(!block.isFailing);
    return output;
  }
  if (language === 'console') return runTranscript(block, service, where);
  if (isProgram(block)) return runProgram(block, service, where);
  if (language === 'text') {
    if (!block.isDrawing) expect(withEnd(printed), where).toMatch(outputPattern(text));
    return undefined;
  }
  if (block.file !== undefined) save(service, block.file, text);
  const checks: Readonly<Record<string, (text: string) => unknown>> = {
    json: JSON.parse,
    yaml: parse,
    html: (html) => checkHtml(html, where),
    // Python may be missing here: tests/clients/s3-pages.test.ts runs it.
    python: (program) => expect(program, where).toContain('import boto3'),
    candid: (types) => expect(readInterface(), where).toContain(types.trimEnd()),
  };
  expect(Object.keys(checks), `${where} has a language that no test checks`).toContain(language);
  await checks[language]?.(service.fill(text));
  return undefined;
}

async function runTranscript(block: Block, service: PageService, where: string): Promise<string> {
  let all = '';
  for (const { command, printed } of stepsOf(block.text)) {
    const { code, output } = await runShell(command, service);
    expect(code, `${where} ${command} ended with ${code}:\n${output}`).toBe(0);
    expect(output, `${where} ${command}`).toMatch(outputPattern(printed));
    all += output;
  }
  return all;
}

/** Types in a page must equal those of the interface. */
function readInterface(): string {
  return readFileSync(join(projectDir, 'candid/file_storage.did'), 'utf8');
}

function withEnd(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

function save(service: PageService, name: string, text: string): void {
  const path = join(service.folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, service.fill(text));
}

async function runProgram(
  block: Block,
  service: PageService,
  where: string,
): Promise<string | undefined> {
  const source = service.fill(programOf(block));
  const bundle = await bundleProgram(source, block.isForBrowsers ? 'browser' : 'node');
  if (block.isForBrowsers) return undefined;
  save(service, block.file ?? 'block.mjs', bundle);
  if (block.file !== undefined) return undefined;
  const { code, output } = await runShell('node block.mjs', service);
  expect(code, `${where} ended with ${code}:\n${output}`).toBe(block.isFailing ? 1 : 0);
  return output;
}

/** Elements must be closed in order, and modules must be bundleable. */
async function checkHtml(html: string, where: string): Promise<void> {
  const open: string[] = [];
  for (const [, slash, name = ''] of html.matchAll(/<(\/?)([a-z][a-z0-9]*)\b[^>]*>/g)) {
    if (['meta', 'link', 'img', 'input', 'br'].includes(name)) continue;
    if (slash === '') open.push(name);
    else expect(open.pop(), where).toBe(name);
  }
  expect(open, where).toEqual([]);
  for (const [, script = ''] of html.matchAll(/<script type="module">([\s\S]*?)<\/script>/g)) {
    await bundleProgram(script, 'browser');
  }
}
