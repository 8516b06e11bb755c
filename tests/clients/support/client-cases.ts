// Runs the cases of third-party download clients: each has a folder for the client's files and a proxy
// that breaks connections, and the downloaded file is compared by digest.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { sha256Hex } from '../../support/service.ts';
import type { CuttingProxy } from './cutting-proxy.ts';
import {
  breakNetwork,
  type Cuts,
  cutsOfEach,
  openTarget,
  type Target,
  targetKind,
} from './target.ts';

export interface Case {
  readonly target: Target;
  readonly proxy: CuttingProxy;
  /** An empty folder that only this client writes to. */
  readonly folder: string;
  /** URL of the file, through a proxy that breaks connections. */
  readonly url: string;
}

export interface ClientCases {
  /** A client for preparations before the cases. */
  readonly target: Target;
  /** Runs a case; afterwards the network must have broken as often as requested. */
  run(name: string, work: (one: Case) => Promise<void>, cuts?: Cuts): Promise<void>;
}

/** Call it once, at the top of a test file. */
export function openClientCases(): ClientCases {
  let target: Target | undefined;
  beforeAll(async () => {
    target = await openTarget(targetKind());
  });
  afterAll(() => target?.stop());
  const opened = () => target ?? expect.fail('there is no target yet');
  return {
    get target() {
      return opened();
    },
    async run(name, work, cuts = {}) {
      const folder = await mkdtemp(join(tmpdir(), 'client-'));
      const proxy = await breakNetwork(name, opened(), cuts);
      const url = `http://127.0.0.1:${proxy.port}${opened().file.path}`;
      try {
        await work({ target: opened(), proxy, folder, url });
        expect(proxy.cutAt.length, 'connections cut').toBe(cuts.cuts ?? cutsOfEach);
      } finally {
        await proxy.stop();
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}

/** Compares the length first, because a wrong length explains more than a wrong digest. */
export async function expectFile(path: string, bytes: Uint8Array): Promise<void> {
  const written = new Uint8Array(await readFile(path));
  expect(written.length, 'bytes').toBe(bytes.length);
  expect(sha256Hex(written)).toBe(sha256Hex(bytes));
}
