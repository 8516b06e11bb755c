// `efs doctor`: checks the way from this machine to the service, with advice for each failure.

import type { Command } from 'commander';
import { type Configuration, type GlobalOptions, readConfiguration } from '../config/config.ts';
import { json } from '../config/flags.ts';
import { printJson, printLine } from '../output/output.ts';
import { printable } from '../output/printable.ts';
import { checkAddress, checkClock, checkVersions } from './doctor-address.ts';
import { checkCycles } from './doctor-cycles.ts';
import { checkBuckets, checkCertificates, checkIdentity, checkKey } from './doctor-rights.ts';
import { checkRoom } from './doctor-room.ts';
import { checkCanisters } from './doctor-service.ts';
import { type DoctorCase, type Finding, failed } from './finding.ts';

type Check = (patient: DoctorCase) => Promise<Finding>;

const checks: Readonly<Record<string, Check>> = {
  address: checkAddress,
  clock: checkClock,
  versions: checkVersions,
  certificate: checkCertificates,
  key: checkKey,
  identity: checkIdentity,
  buckets: checkBuckets,
  cycles: checkCycles,
  room: checkRoom,
};

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description(
      'check address, clock, versions, certificate, key, identity, buckets, cycles, room, and each ' +
        'volume of a front',
    )
    .argument('[buckets...]', 'buckets to check (default: those of the identity)')
    .addOption(json())
    .action((buckets: string[], flags: { json?: boolean }, command: Command) =>
      doctor({ buckets, flags, command }),
    );
}

interface Request {
  readonly buckets: readonly string[];
  readonly flags: { readonly json?: boolean };
  readonly command: Command;
}

async function doctor({ buckets, flags, command }: Request): Promise<void> {
  const options = command.optsWithGlobals<GlobalOptions>();
  const clientVersion = command.parent?.version() ?? '';
  const rows: (Finding & { readonly check: string })[] = [];
  for await (const [check, finding] of examine(options, { buckets, clientVersion })) {
    rows.push({ check, ...finding });
    if (!flags.json) show(check, finding);
  }
  if (flags.json) {
    printJson(
      rows.map(({ check, isGood = null, message, advice, canisterId }) => {
        return { check, isGood, message, advice, canisterId };
      }),
    );
  }
  const failed = rows.filter(({ isGood }) => isGood === false).length;
  if (failed > 0) throw new Error(`${failed} of ${rows.length} checks failed.`);
}

async function* examine(
  options: GlobalOptions,
  wanted: Pick<DoctorCase, 'buckets' | 'clientVersion'>,
): AsyncGenerator<[string, Finding]> {
  let configuration: Configuration;
  try {
    configuration = readConfiguration(options, process.env);
  } catch (error) {
    yield [
      'configuration',
      failed(error, 'Correct the setting; efs --help shows which settings take precedence.'),
    ];
    return;
  }
  yield ['configuration', sayConfiguration(configuration)];
  for (const [name, check] of Object.entries(checks)) {
    yield [name, await check({ ...wanted, configuration }).catch((error) => failed(error))];
  }
  if (configuration.front !== undefined) yield* checkCanisters(configuration, configuration.front);
}

function sayConfiguration({ profile, replica, notes, url, host }: Configuration): Finding {
  const from =
    profile !== undefined
      ? `profile ${profile}`
      : replica !== undefined
        ? `the local replica of ${replica}`
        : 'flags and the environment';
  if (url === undefined && host === undefined) {
    return {
      isGood: false,
      message: 'The address of the service is unknown.',
      advice:
        'Set EFS_URL (https://<canister id>.icp.net on the network) and EFS_API_KEY, or run efs ' +
        'profile add, or run in a folder with a local replica.',
    };
  }
  const [note] = notes;
  return note === undefined
    ? { isGood: true, message: `From ${from}.` }
    : { isGood: undefined, message: note };
}

const nameWidth = Math.max(...Object.keys(checks).map(({ length }) => length), 13);

function show(name: string, { isGood, message, advice }: Finding): void {
  const mark = isGood === undefined ? '–' : isGood ? '✓' : '✗';
  printLine(`${mark} ${name.padEnd(nameWidth)}  ${printable(message)}`);
  if (advice !== undefined) printLine(`${' '.repeat(nameWidth + 4)}→ ${printable(advice)}`);
}
