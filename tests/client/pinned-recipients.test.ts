// Pinned recipients by the command `efs`: an owner hands out an API key with the digest of the
// bucket's recipients, and the key's holder sends to other recipients only after accepting them.

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { accepting } from '../../packages/efs/src/config/pinned-recipients.ts';
import { readProfiles, writeProfiles } from '../../packages/efs/src/config/profiles.ts';
import { forgedModes } from '../support/forged-modes.ts';
import { openService, type Service } from '../support/service.ts';
import { callCommand } from './command-calls.ts';

let service: Service;
let folder: string;
let recipients: string[];
/** The pin that `efs key create` printed. */
let pin: string;
let key: string;

const digestPattern = /[\w-]{43}/;
const local = (who: string, name: string) => join(folder, who, name);

async function efs(who: 'owner' | 'sender', words: string, environment: object = {}) {
  const own = {
    EFS_HOST: service.host,
    EFS_CANISTER_ID: service.canisterId,
    EFS_IDENTITY: join(folder, 'owner.pem'),
  };
  const sender = { EFS_URL: service.base, EFS_API_KEY: key };
  return callCommand(words.split(' '), {
    folder: join(folder, who),
    environment: { ...(who === 'owner' ? own : sender), ...environment },
  });
}

async function done(...[who, words, environment]: Parameters<typeof efs>) {
  const ended = await efs(who, words, environment);
  expect(ended, words + ended.errors).toMatchObject({ code: 0 });
  return ended;
}

const refused = { code: 8, errors: expect.stringMatching(/is expected\. .*--accept-recipients/s) };

beforeAll(async () => {
  service = await openService({ faults: {} });
  folder = await mkdtemp(join(tmpdir(), 'efs-pins-'));
  await writeFile(join(folder, 'owner.pem'), service.identityPem, { mode: 0o600 });
  for (const who of ['owner', 'sender']) {
    await mkdir(join(folder, who));
    await writeFile(local(who, 'a.txt'), 'a letter');
  }
  const identities = [await generateX25519Identity(), await generateX25519Identity()];
  recipients = await Promise.all(identities.map(identityToRecipient));
  await done('owner', `bucket create inbox --end-to-end --no-vetkeys --recipient ${recipients[0]}`);
  const created = await done('owner', 'key create inbox --permissions write');
  key = created.output.trim();
  [, pin = ''] = /--pin-recipients (inbox=\S+)/.exec(created.errors) ?? [];
});
afterEach(() => service.replica?.setFaults({}));
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('efs key create and efs identity show print the digest of the recipients', async () => {
  expect(pin).toMatch(/^inbox=[\w-]{43}$/);
  const { output } = await done('owner', 'identity show inbox');
  expect(`inbox=${digestPattern.exec(output.split('\n').at(-2) ?? '')?.[0]}`).toBe(pin);
  const shown = JSON.parse((await done('owner', 'identity show --json inbox')).output);
  expect(`inbox=${shown.recipientsDigest}`).toBe(pin);
  const words = 'key create inbox --permissions write --json';
  const { pinnedRecipients } = JSON.parse((await done('owner', words)).output);
  expect(`inbox=${pinnedRecipients.inbox}`).toBe(pin);
});

test('efs put sends only to recipients pinned by a flag or the environment', async () => {
  const wrong = pin.replace(/=./, (start) => (start === '=A' ? '=B' : '=A'));
  await done('sender', `--pin-recipients ${pin} put a.txt inbox/1.txt`);
  await done('sender', 'put a.txt inbox/2.txt', { EFS_PIN_RECIPIENTS: pin });
  for (const [words, environment] of [
    [`--pin-recipients ${wrong} put a.txt inbox/3.txt`, {}],
    ['--pin-recipients inbox=none put a.txt inbox/3.txt', {}],
    ['put a.txt inbox/3.txt', { EFS_PIN_RECIPIENTS: wrong }],
  ] as const) {
    expect(await efs('sender', words, environment), words).toMatchObject(refused);
  }
  expect(await efs('sender', '--pin-recipients inbox put a.txt inbox/3.txt')).toMatchObject({
    code: 2,
    errors: expect.stringContaining('BUCKET=DIGEST'),
  });
  expect((await done('owner', 'ls inbox')).output).not.toContain('3.txt');
});

test('efs put with a profile refuses new recipients until --accept-recipients, which pins them', async () => {
  const none = { EFS_URL: '', EFS_API_KEY: '' };
  const flags = `--url ${service.base} --api-key ${key} --pin-recipients ${pin}`;
  await done('sender', `profile add box --no-keyring ${flags}`, none);
  await done('sender', 'put a.txt inbox/4.txt', none);
  await done('owner', `bucket set inbox --recipient ${recipients[1]}`);
  expect(await efs('sender', 'put a.txt inbox/5.txt', none)).toMatchObject(refused);
  expect((await done('owner', 'ls inbox')).output).not.toContain('5.txt');
  const accepted = await done('sender', '--accept-recipients put a.txt inbox/5.txt', none);
  expect(accepted.errors).toMatch(/Accepted the recipients of bucket inbox: [\w-]{43}\n/);
  await done('sender', 'put a.txt inbox/6.txt', none);
  const { profiles } = JSON.parse(
    await readFile(local('sender', 'config/efs/profiles.json'), 'utf8'),
  );
  const shown = JSON.parse((await done('owner', 'identity show --json inbox')).output);
  expect(profiles.box.pinnedRecipients).toEqual({ inbox: shown.recipientsDigest });
});

test('efs put with a key over HTTP and with an identity encrypts, whatever a node reports', async () => {
  const { replica, canisterId } = service;
  if (replica === undefined) expect.fail('this needs the local replica');
  replica.setFaults({ forge: await forgedModes(replica, canisterId, undefined) });
  for (const who of ['owner', 'sender'] as const) {
    const nothingKnown = { XDG_CONFIG_HOME: local(who, 'lied to') };
    await done(who, `put a.txt inbox/${who}.txt`, nothingKnown);
  }
  replica.setFaults({});
  for (const who of ['owner', 'sender']) {
    const { output } = await done('owner', `stat --json inbox/${who}.txt`);
    expect(JSON.parse(output).contentType).toBe('application/age');
  }
});

test('efs put notices that a bucket has ceased to be end-to-end, unless efs itself changed it', async () => {
  await done('owner', `bucket create brief --end-to-end --no-vetkeys --recipient ${recipients[0]}`);
  await done('owner', 'put a.txt brief/');
  const other = { XDG_CONFIG_HOME: local('owner', 'other') };
  await done('owner', 'rm brief/a.txt', other);
  await done('owner', 'bucket set brief --no-end-to-end', other);
  expect(await efs('owner', 'put a.txt brief/')).toMatchObject({
    code: 8,
    errors: expect.stringContaining('--accept-recipients'),
  });
  await done('owner', '--accept-recipients put a.txt brief/');
  await done('owner', 'put a.txt brief/');
  await done('owner', `bucket create own --end-to-end --no-vetkeys --recipient ${recipients[0]}`);
  await done('owner', 'put a.txt own/');
  await done('owner', 'rm own/a.txt');
  await done('owner', 'bucket set own --no-end-to-end');
  await done('owner', 'put a.txt own/');
});

test('accepting() keeps the pins of two buckets whose recipients it accepts at once', async () => {
  const environment = { XDG_CONFIG_HOME: join(folder, 'pins') };
  const [one, two, other] = ['1'.repeat(43), '2'.repeat(43), '3'.repeat(43)];
  const profile = { url: service.base, pinnedRecipients: { one, two } };
  await writeProfiles(environment, { profiles: { sender: profile } });
  const accept = accepting({ acceptsRecipients: true, environment, profile: 'sender' });
  const changes = ['one', 'two'].map((bucket) =>
    accept?.({ bucket, expected: one, actual: other }),
  );
  expect(await Promise.all(changes)).toEqual([true, true]);
  expect(readProfiles(environment).profiles.sender?.pinnedRecipients).toEqual({
    one: other,
    two: other,
  });
});
