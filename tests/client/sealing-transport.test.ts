// The table of operations is exhaustive by type: `npm run check` fails if a row compiles that must
// not. The sealing transport passes on no plain path.

import { expect, test } from 'vitest';
import type { ActorCalls } from '../../packages/client/src/actor/actor-call.ts';
import type { Transport } from '../../packages/client/src/connection/transport.ts';
import type { PathRows, Rows } from '../../packages/client/src/operations/operation.ts';
import { getting } from '../../packages/client/src/operations/operation-request.ts';
import { operationRows, pathRows } from '../../packages/client/src/operations/table.ts';
import type { ChunkUpload } from '../../packages/client/src/operations/transfers.ts';
import { sealingTransport } from '../../packages/client/src/sealed-names/sealing-transport.ts';

interface Trial {
  pinFile(request: { bucket: string; path: string; label: string }): { path: string };
}

const seals = { path: 'path', label: 'path' } as const;

test('PathRows refuses an operation without a row, and a path that is neither sealed nor opened', () => {
  const complete: PathRows<Trial> = { pinFile: { seals, opens: 'record' } };
  // @ts-expect-error the row is missing
  const forgotten: PathRows<Trial> = {};
  // @ts-expect-error the fields of the argument are missing
  const unsealed: PathRows<Trial> = { pinFile: { opens: 'record' } };
  // @ts-expect-error the new field `label` may be a path
  const undeclared: PathRows<Trial> = { pinFile: { seals: { path: 'path' }, opens: 'record' } };
  // @ts-expect-error the path of the result is missing
  const unopened: PathRows<Trial> = { pinFile: { seals } };
  // @ts-expect-error an operation without a path seals none
  const superfluous: PathRows<{ pin(bucket: string): number }> = { pin: { seals } };
  expect([forgotten, unsealed, undeclared, unopened, superfluous]).not.toContain(complete);
});

test('sealingTransport(): Rows and ActorCalls refuse an operation without a row, request or retry rule', () => {
  const request = () => getting('/');
  const complete: Rows<Trial> = { pinFile: { retry: 'repeat', request } };
  // @ts-expect-error the row is missing
  const forgotten: Rows<Trial> = {};
  // @ts-expect-error the HTTP request is missing
  const silent: Rows<Trial> = { pinFile: { retry: 'repeat' } };
  // @ts-expect-error the retry rule is missing
  const unruled: Rows<Trial> = { pinFile: { request } };
  // @ts-expect-error `doneIf` is allowed only for an operation without a result
  const gone: Rows<Trial> = { pinFile: { retry: { doneIf: 'NoSuchFile' }, request } };
  // @ts-expect-error the call of the actor is missing
  const uncalled: ActorCalls<Trial> = {};
  expect([forgotten, silent, unruled, gone, uncalled]).not.toContain(complete);
});

test('sealingTransport() has every operation, and no other member', () => {
  expect(Object.keys(pathRows()).sort()).toEqual(Object.keys(operationRows).sort());
  const calls = Object.fromEntries(Object.keys(operationRows).map((name) => [name, () => {}]));
  const inner = { ...calls, added: () => {} } as unknown as Transport;
  const outer = sealingTransport(inner, async () => names);
  expect(outer).toMatchObject(
    Object.fromEntries(Object.keys(operationRows).map((name) => [name, expect.any(Function)])),
  );
  expect(outer).not.toHaveProperty('added');
});

const names = {
  isSealing: true,
  seal: (path: string) => `sealed ${path.length}`,
  open: (path: string) => ({ path }),
  openText: (text: string) => text,
};

test('sealingTransport() passes chunks on without the plain path of their file', async () => {
  const sent: string[] = [];
  const inner = { putChunk: async ({ path }: ChunkUpload) => void sent.push(path) };
  const transport = sealingTransport(inner as unknown as Transport, async () => names);
  const bytes = new Uint8Array(1);
  const chunk = { bucket: 'safe', path: 'plan.txt', uploadId: 'u', index: 0, bytes, digest: bytes };
  await transport.putChunk(chunk, undefined);
  expect(sent).toEqual(['sealed 8']);
});
