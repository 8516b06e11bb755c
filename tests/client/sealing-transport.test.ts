// The transport of buckets that seal names is exhaustive by type: a method that is added to Transport
// and forgotten there does not compile, and neither does one with a path that is passed on as it is.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import type { ChunkUpload, Transport } from '../../packages/client/src/connection/transport.ts';
import { sealingTransport } from '../../packages/client/src/sealed-names/sealing-transport.ts';
import { projectDir } from '../tidy/source-tree.ts';

const folder = join(projectDir, 'packages/client/src');
const interfacePath = join(folder, 'connection/transport.ts');
const sealingPath = join(folder, 'sealed-names/sealing-transport.ts');
const transportText = readFileSync(interfacePath, 'utf8');
const sealingText = readFileSync(sealingPath, 'utf8');

/** Transport with one more method. */
function grown(method: string): string {
  const head = 'export interface Transport {';
  expect(transportText).toContain(head);
  return transportText.replace(head, `${head}\n  ${method}`);
}

/** Passes the method `added` on as it is. */
function passing(): string {
  const names = 'getEndToEnd, removeLink, status }';
  expect(sealingText).toContain(names);
  return sealingText.replaceAll(names, names.replace('status', 'status, added'));
}

/** Returns the compiler's errors for sealing-transport.ts with these texts instead of the files. */
function faultsOf(texts: Readonly<Record<string, string>>): string[] {
  const { config } = ts.readConfigFile(join(projectDir, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, projectDir);
  const host = ts.createCompilerHost(options);
  const { getSourceFile } = host;
  host.getSourceFile = (name, ...rest) => {
    const text = texts[name];
    if (text === undefined) return getSourceFile(name, ...rest);
    return ts.createSourceFile(name, text, rest[0], true);
  };
  const program = ts.createProgram([sealingPath], { ...options, noEmit: true }, host);
  return program
    .getSemanticDiagnostics(program.getSourceFile(sealingPath))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}

test.each([
  ['added(file: FileName): Promise<void>;', 'and forgotten', false, /'added' is missing/],
  ['added(file: FileName): Promise<void>;', 'and passed on', true, /'added' does not exist/],
])(
  'sealingTransport() with %s added %s does not compile',
  (method, _, isPassed, fault) => {
    const texts = {
      [interfacePath]: grown(method),
      [sealingPath]: isPassed ? passing() : sealingText,
    };
    expect(faultsOf(texts).join('\n')).toMatch(fault);
  },
  60_000,
);

test('sealingTransport() with a method without a path added and passed on compiles', () => {
  const added = grown('added(bucket: string): Promise<void>;');
  expect(faultsOf({ [interfacePath]: added, [sealingPath]: passing() })).toEqual([]);
});

test('sealingTransport() passes chunks on without the clear path of their file', async () => {
  const sent: string[] = [];
  const inner = { putChunk: async ({ path }: ChunkUpload) => void sent.push(path) };
  const names = {
    isSealing: true,
    seal: (path: string) => `sealed ${path.length}`,
    open: (path: string) => ({ path }),
    openText: (text: string) => text,
  };
  const transport = sealingTransport(inner as unknown as Transport, async () => names);
  const bytes = new Uint8Array(1);
  const chunk = { bucket: 'safe', path: 'plan.txt', uploadId: 'u', index: 0, bytes, digest: bytes };
  await transport.putChunk(chunk, undefined);
  expect(sent).toEqual(['sealed 8']);
});
