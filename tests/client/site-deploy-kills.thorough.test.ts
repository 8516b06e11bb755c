// `efs site deploy` that is killed at random times: after each kill, and during each run, the site
// is wholly an old or wholly a new one, and a last run completes it.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Storage } from '../../packages/client/src/storage.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import { seedOr } from '../support/seed.ts';
import { openService, ownerOf, type Service } from '../support/service.ts';
import { type CommandSettings, startCommand } from './command-runs.ts';

const bucket = 'www';
const killCount = 12;
const seed = seedOr(20_261_129);

let service: Service;
let owner: Storage;
let settings: CommandSettings;

beforeAll(async () => {
  service = await openService({});
  owner = ownerOf(service);
  const folder = await mkdtemp(join(tmpdir(), 'deploy-kills-'));
  await writeFile(join(folder, 'identity.pem'), service.identityPem);
  const { base, host, canisterId } = service;
  const place = { EFS_URL: base, EFS_HOST: host, EFS_CANISTER_ID: canisterId };
  settings = { folder, environment: { ...place, EFS_IDENTITY: join(folder, 'identity.pem') } };
});
afterAll(async () => {
  await service?.stop();
  await rm(settings.folder, { recursive: true, force: true });
});

type Site = ReadonlyMap<string, string>;

/** Each version has files that change, stay, come and go; one has several chunks. */
function siteOf(version: number): Site {
  const site = new Map<string, string>([['_redirects', `/v /page-${version}.html 302`]]);
  for (const path of ['index.html', 'about.html', 'blog/index.html', '404.html']) {
    site.set(path, `${path} ${version}`);
  }
  for (let index = 0; index < 30; index++) site.set(`stays/${index}.css`, `css ${index}`);
  for (let index = 0; index < 10; index++) site.set(`app.${version}.${index}.js`, `${version}`);
  site.set(`page-${version}.html`, `page ${version}`);
  if (version % 3 > 0) site.set('large.bin', `${version}`.repeat(2_500_000));
  return site;
}

async function build(site: Site): Promise<void> {
  const dist = join(settings.folder, 'dist');
  await rm(dist, { recursive: true, force: true });
  for (const [path, text] of site) {
    await mkdir(dirname(join(dist, path)), { recursive: true });
    await writeFile(join(dist, path), text);
  }
}

const words = ['site', 'deploy', 'dist', '--bucket', bucket];

/** Returns the paths and entity tags of the site's files by one query: one state of the canister. */
async function stateNow(): Promise<string> {
  const page = await owner.listFolder({ bucket, limit: 1_000 });
  expect(page.nextCursor).toBeUndefined();
  return page.items
    .filter(({ path }) => !path.startsWith('.efs-deploy/'))
    .map(({ path, etag }) => `${path} ${etag}`)
    .sort()
    .join('\n');
}

/** Requests each file of the site by the verifying gateway, and fails if one is another. */
async function visit(site: Site): Promise<void> {
  for (const [path, text] of site) {
    const response = await fetch(`${service.base}/cloud/${bucket}/${path}`);
    expect([path, await response.text()]).toEqual([path, text]);
  }
}

test(`efs site deploy killed ${killCount} times shows whole sites only (seed ${seed})`, async () => {
  const random = randomNumbers(seed);
  await build(siteOf(0));
  expect(await startCommand(words, settings).ended).toMatchObject({ code: 0 });
  const states = new Map([[await stateNow(), 0]]);
  let present = 0;
  let version = 0;
  let [kept, switched] = [0, 0];
  for (let kill = 0; kill < killCount; kill++) {
    // Half of the deploys continue the killed one, the others are of a further version
    if (version === present || random(2) === 0) await build(siteOf(++version));
    const run = startCommand(words, settings);
    const killed = wait(400 + random(2_600)).then(() => run.process.kill('SIGKILL'));
    let hasEnded = false;
    void run.ended.then(() => {
      hasEnded = true;
    });
    const seen = new Set<string>();
    while (!hasEnded) {
      seen.add(await stateNow());
      await wait(10);
    }
    await killed;
    // A switch that was sent before the kill may still be executed
    await wait(300);
    seen.add(await stateNow());
    const others = [...seen].filter((state) => !states.has(state));
    expect(others.length).toBeLessThanOrEqual(1);
    for (const state of others) {
      states.set(state, version);
      await visit(siteOf(version));
    }
    if (others.length > 0) {
      present = version;
      switched++;
    } else {
      await visit(siteOf(present));
      kept++;
    }
  }
  expect(await startCommand(words, settings).ended).toMatchObject({ code: 0 });
  await visit(siteOf(version));
  const paths: string[] = [];
  for await (const { path } of owner.list({ bucket })) paths.push(path);
  expect(paths.sort()).toEqual([...siteOf(version).keys()].sort());
  console.log(`${kept} kills before the switch, ${switched} after it`);
  expect(kept).toBeGreaterThan(2);
});
