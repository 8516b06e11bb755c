// The commands of domains and of texts at /.well-known/.

import type { Command } from 'commander';
import { json, runOf } from '../config/flags.ts';
import {
  addDomain,
  listDomains,
  listWellKnown,
  removeDomain,
  removeWellKnown,
  setWellKnown,
} from './well-known.ts';

export function addDomains(program: Command): void {
  const domain = program
    .command('domain')
    .description('domains of your own by which gateways may show the service');
  domain
    .command('add <domain>')
    .description('and tells what to set at its DNS')
    .addOption(json())
    .action((name: string, _flags, command: Command) => addDomain(runOf(command), name));
  domain
    .command('ls')
    .addOption(json())
    .action((flags, command: Command) => listDomains(runOf(command), flags));
  domain
    .command('rm <domain>')
    .addOption(json())
    .action((name: string, _flags, command: Command) => removeDomain(runOf(command), name));
  const wellKnown = program
    .command('well-known')
    .description('small texts at /.well-known/, for programs that look for them there');
  wellKnown
    .command('set <name> <file>')
    .description('of a local file; - is standard input')
    .addOption(json())
    .option('--type <type>', 'media type; by the name unless told')
    .action((name: string, file: string, flags, command: Command) =>
      setWellKnown(runOf(command), { name, file }, flags),
    );
  wellKnown
    .command('ls')
    .addOption(json())
    .action((flags, command: Command) => listWellKnown(runOf(command), flags));
  wellKnown
    .command('rm <name>')
    .addOption(json())
    .action((name: string, _flags, command: Command) => removeWellKnown(runOf(command), name));
}
