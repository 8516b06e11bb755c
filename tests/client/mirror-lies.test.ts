// `efs mirror` whose source has a node that is behind, or that lies.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IDL } from '@icp-sdk/core/candid';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { methodTypes } from '../../packages/client/src/actor/candid-interface.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createNodeStorage } from '../../packages/client/src/node/storage.ts';
import type { Storage } from '../../packages/client/src/storage.ts';
import { openService, type Service } from '../support/service.ts';
import { callCommand } from './command-calls.ts';
import { statesIn } from './mirrored-buckets.ts';

let service: Service;
let owner: Storage;
let folder: string;
let count = 0;
let [bucket, copy] = ['', ''];

beforeAll(async () => {
  service = await openService({ faults: {} });
  folder = await mkdtemp(join(tmpdir(), 'mirror-lies-'));
  await writeFile(join(folder, 'identity.pem'), service.identityPem);
  const { host, canisterId, identityPem } = service;
  owner = createNodeStorage({ host, canisterId, identity: identityFromPem(identityPem) });
});
beforeEach(async () => {
  count += 1;
  [bucket, copy] = [`source-${count}`, `copy-${count}`];
  for (const id of [bucket, copy]) await owner.buckets.create(id, { keepVersionsDays: 30 });
});
afterEach(() => service.replica?.setFaults({}));
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

const store = (path: string, text: string) =>
  owner.upload(new TextEncoder().encode(text), { bucket, path });

function mirror(...flags: string[]) {
  const { host, canisterId } = service;
  const environment = {
    ...{ EFS_HOST: host, EFS_CANISTER_ID: canisterId, EFS_IDENTITY: join(folder, 'identity.pem') },
  };
  return callCommand(['mirror', bucket, '--to', copy, '--once', ...flags], { folder, environment });
}

interface Page {
  readonly ok: { readonly items: readonly { readonly bucketId: string; readonly path: string }[] };
}

/** Lets the node hide files of the source from lists. */
function hide(isHidden: (path: string) => boolean): void {
  const { result } = methodTypes('listFolder');
  service.replica?.setFaults({
    forge({ method }, reply) {
      if (method !== 'listFolder') return undefined;
      const [{ ok }] = IDL.decode([result], reply) as unknown as [Page];
      const items = ok.items.filter((file) => file.bucketId !== bucket || !isHidden(file.path));
      return new Uint8Array(IDL.encode([result], [{ ok: { ...ok, items } }]));
    },
  });
}

async function expectEqual(): Promise<void> {
  const states = await statesIn(owner, bucket);
  expect(states.size).toBeGreaterThan(0);
  expect(await statesIn(owner, copy)).toEqual(states);
}

describe('efs mirror with a node that lies', () => {
  test('stores the newest version although a node shows the one before', async () => {
    await store('a', 'old');
    await mirror();
    let old: Uint8Array | undefined;
    let lies = 0;
    service.replica?.setFaults({
      forge({ method, arg }, reply) {
        if (method !== 'getFile' || !Buffer.from(arg).includes(bucket)) return undefined;
        lies += old === undefined ? 0 : 1;
        old ??= reply;
        return old;
      },
    });
    await owner.stat({ bucket, path: 'a' });
    await store('a', 'new');
    expect(await mirror()).toMatchObject({ code: 0 });
    service.replica?.setFaults({});
    expect(lies).toBeGreaterThan(0);
    await expectEqual();
  });

  test('keeps all files if a list shows none', async () => {
    await store('a', 'a');
    await store('b', 'b');
    await mirror();
    // Without its state the mirror compares everything.
    await rm(join(folder, 'state'), { recursive: true });
    const before = await statesIn(owner, copy);
    hide(() => true);
    expect(await mirror()).toMatchObject({ code: 0 });
    service.replica?.setFaults({});
    expect(await statesIn(owner, copy)).toEqual(before);
  });

  test('keeps a file that one list of a node lacks', async () => {
    await store('a', 'a');
    await store('b', 'b');
    await mirror();
    await rm(join(folder, 'state'), { recursive: true });
    hide((path) => path === 'b');
    expect(await mirror()).toMatchObject({ code: 0 });
    service.replica?.setFaults({});
    await expectEqual();
  });
});
