// `efs member`, `efs access`, `efs rotate`: rights, and the rotation of keys.

import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Storage } from '../../../client/src/storage.ts';
import type { BucketMember } from '../../../client/src/types/buckets.ts';
import type { RootKeySource } from '../../../client/src/types/service.ts';
import { json, runOf, wholeNumber } from '../config/flags.ts';
import type { Run } from '../config/run.ts';
import { isJson } from '../output/json-output.ts';
import {
  type Column,
  formatTable,
  printJson,
  printLine,
  printNote,
  printResult,
} from '../output/output.ts';
import { UsageError } from '../output/usage-error.ts';
import { addRotateIdentity, openEpoch } from '../service/bucket-identity.ts';

interface JsonFlag {
  readonly json?: boolean;
}

export function addAccessCommands(program: Command): void {
  addMember(program.command('member').description('manage members of a bucket'));
  addAccess(
    program.command('access').description('choose who may create buckets; for controllers'),
  );
  addRotate(program.command('rotate').description('replace encryption keys'));
}

interface MemberFlags {
  readonly role: string;
  readonly name?: string;
}

function addMember(member: Command): void {
  member
    .command('ls <bucket>')
    .description('list members')
    .addOption(json())
    .action((bucket: string, flags: JsonFlag, command: Command) =>
      listMembers(runOf(command), bucket, flags),
    );
  member
    .command('add <bucket> <principal>')
    .description('add a member, or change its role and name')
    .addOption(json())
    .option('--role <role>', 'reader, writer or owner', 'reader')
    .option('--name <name>', 'a name that owners see beside the principal; "" removes it')
    .action((bucket: string, principal: string, flags: MemberFlags, command: Command) =>
      addMemberTo(runOf(command), bucket, { principal, role: flags.role, name: flags.name }),
    );
  member
    .command('rm <bucket> <principal>')
    .description('remove a member')
    .option('--rotate', 'end-to-end bucket: encrypt new files to a new identity')
    .addOption(json())
    .action((bucket: string, principal: string, flags: { rotate?: boolean }, command: Command) =>
      removeMember(runOf(command), { bucket, principal, isRotated: flags.rotate === true }),
    );
}

function addAccess(access: Command): void {
  access
    .command('ls')
    .description('list principals that may create buckets besides controllers')
    .addOption(json())
    .action((flags: JsonFlag, command: Command) => listCreators(runOf(command), flags));
  access
    .command('allow <principals...>')
    .description('allow principals to create buckets')
    .addOption(json())
    .action((allow: string[], _flags, command: Command) =>
      changeCreators(runOf(command), { allow }),
    );
  access
    .command('disallow <principals...>')
    .description('disallow principals; their buckets stay')
    .addOption(json())
    .action((disallow: string[], _flags, command: Command) =>
      changeCreators(runOf(command), { disallow }),
    );
  addBudget(
    access,
    'anonymous',
    'anonymousUpdates',
    'limit requests without a key that cost an update',
  );
  addBudget(access, 'links', 'linkUpdates', 'limit link requests that cost an update');
  addBudget(access, 'refusals', 'refusals', 'limit refused calls of callers without a right');
  addBudget(access, 'derivations', 'derivations', 'limit derivations for end-to-end buckets');
}

type BudgetName = 'anonymousUpdates' | 'linkUpdates' | 'refusals' | 'derivations';

function addBudget(access: Command, name: string, budget: BudgetName, description: string): void {
  access
    .command(name)
    .description(description)
    .addOption(json())
    .requiredOption('--burst <count>', 'maximum at once', wholeNumber)
    .requiredOption('--per-minute <count>', 'refill per minute', wholeNumber)
    .action((flags: { burst: number; perMinute: number }, command: Command) =>
      setBudget(runOf(command), budget, flags),
    );
}

function addRotate(rotate: Command): void {
  const waiting = 'wait until the new key has replaced the old one everywhere';
  rotate
    .command('bucket <bucket>')
    .description("replace a bucket's key; for its owners")
    .option('--wait', waiting)
    .addOption(json())
    .action((bucket: string, flags: { wait?: boolean }, command: Command) =>
      rotateBucket(runOf(command), bucket, flags),
    );
  addRotateIdentity(rotate);
  rotate
    .command('root')
    .description('replace the root key, which wraps the bucket keys; for controllers')
    .option('--source <source>', 'stored, or vetkd:NAME such as vetkd:key_1')
    .option('--proxy <canister>', 'with vetkd: the canister that asks the network, or none')
    .option('--wait', waiting)
    .addOption(json())
    .action((flags: RootFlags, command: Command) => rotateRoot(runOf(command), flags));
}

const memberColumns: readonly Column<BucketMember>[] = [
  { title: 'PRINCIPAL', value: ({ principal }) => principal },
  { title: 'ROLE', value: ({ role }) => role },
  { title: 'NAME', value: ({ name }) => name ?? '' },
];

async function listMembers(run: Run, bucket: string, flags: JsonFlag): Promise<void> {
  const { owner, members } = await (await run.manager()).buckets.get(bucket);
  const others = members.filter(({ principal }) => principal !== owner);
  const rows = [{ principal: owner, role: 'owner' }, ...others];
  if (flags.json) printJson(rows);
  else printLine(formatTable(rows, memberColumns));
}

async function addMemberTo(run: Run, bucket: string, member: BucketMember): Promise<void> {
  await (await run.manager()).buckets.update(bucket, { addMembers: [member] });
  printResult({ bucket, ...member }, member.principal);
}

interface Removal {
  readonly bucket: string;
  readonly principal: string;
  /** Rotate the identity too: the removed member keeps the identities that it has derived. */
  readonly isRotated: boolean;
}

async function removeMember(run: Run, { bucket, principal, isRotated }: Removal): Promise<void> {
  const { buckets } = await run.manager();
  if (isRotated && !(await buckets.get(bucket)).endToEnd?.usesVetKeys) {
    throw new UsageError(`Bucket ${bucket} has no identity to rotate: omit --rotate.`);
  }
  const { endToEnd } = await buckets.update(bucket, { removeMembers: [principal] });
  const opened = isRotated ? await openEpoch(run, bucket) : undefined;
  printResult({ bucket, removed: principal, epoch: opened?.epoch }, principal);
  if (run.isQuiet || !endToEnd?.usesVetKeys) return;
  printNote(
    'The service no longer sends files to this member, who can still read downloaded files and, ' +
      'after decrypting any of them, copies of all files stored until now.',
  );
  printNote(
    opened === undefined
      ? `This member could also decrypt copies of new files: efs rotate identity ${bucket} prevents that.`
      : `New files are encrypted for epoch ${opened.epoch}, and this member cannot decrypt them.`,
  );
}

async function listCreators(run: Run, flags: JsonFlag): Promise<void> {
  const storage = await run.manager();
  const [principals, { anonymousUpdates, linkUpdates, refusals, derivations }] = await Promise.all([
    storage.access.list(),
    storage.status({ signal: run.signal }),
  ]);
  if (flags.json) {
    printJson({ principals, anonymousUpdates, linkUpdates, refusals, derivations });
    return;
  }
  for (const principal of principals) printLine(principal);
  if (run.isQuiet) return;
  if (principals.length === 0) printNote('Nobody but the controllers may create buckets.');
  const budgets = {
    'Updates without a key': anonymousUpdates,
    'Updates by links': linkUpdates,
    'Refused messages': refusals,
    Derivations: derivations,
  };
  for (const [name, budget] of Object.entries(budgets)) {
    if (budget === undefined) continue;
    const { burst, perMinute, left } = budget;
    printNote(`${name}: ${burst} at once, ${perMinute} more a minute, ${left} left.`);
  }
}

async function changeCreators(
  run: Run,
  change: { readonly allow?: string[]; readonly disallow?: string[] },
): Promise<void> {
  const principals = await (await run.manager()).access.update(change);
  if (isJson()) printJson({ principals });
  else for (const principal of principals) printLine(principal);
}

async function setBudget(
  run: Run,
  budget: BudgetName,
  { burst, perMinute }: { readonly burst: number; readonly perMinute: number },
): Promise<void> {
  const storage = await run.manager();
  const sizes = { burst, perMinute };
  await storage.access.update({ [budget]: sizes });
  printResult(sizes, `${burst} at once, ${perMinute} more a minute.`);
}

async function rotateBucket(run: Run, bucket: string, flags: { wait?: boolean }): Promise<void> {
  const storage = await run.manager();
  await storage.rotation.bucket(bucket);
  await rotated(run, storage, flags);
  printResult({ bucket, isDone: flags.wait === true }, bucket);
}

interface RootFlags {
  readonly source?: string;
  readonly proxy?: string;
  readonly wait?: boolean;
}

async function rotateRoot(run: Run, flags: RootFlags): Promise<void> {
  const source = parseSource(flags);
  const storage = await run.manager();
  await storage.rotation.root(source);
  await rotated(run, storage, flags);
  printResult({ isDone: flags.wait === true }, 'root');
}

function parseSource({ source: text, proxy }: RootFlags): RootKeySource | undefined {
  const [, vetkd] = /^vetkd:(\w+)$/.exec(text ?? '') ?? [];
  if (vetkd !== undefined) return { vetkd, proxy: proxy === 'none' ? null : proxy };
  if (proxy !== undefined) throw new UsageError('--proxy needs --source vetkd:NAME.');
  if (text === undefined || text === 'stored') return text;
  throw new UsageError(
    `The source must be stored, or vetkd:NAME such as vetkd:key_1; got ${text}.`,
  );
}

const pollMs = 2_000;

/** The new key is in use at once. The rest of a rotation wraps the keys of the old one again. */
async function rotated(run: Run, storage: Storage, flags: { wait?: boolean }): Promise<void> {
  const { signal, isQuiet } = run;
  const isRotating = async () => (await storage.status({ signal })).encryption.isRotating;
  if (!flags.wait) {
    if (!isQuiet)
      printNote(
        'The rotation continues in the background: efs status shows isRotating until it is done.',
      );
    return;
  }
  const start = Date.now();
  while (await isRotating()) {
    if (!isQuiet) printNote(`Rotating for ${Math.round((Date.now() - start) / 1_000)} s …`);
    await wait(pollMs, undefined, { signal });
  }
  if (!isQuiet) printNote('Done.');
}
