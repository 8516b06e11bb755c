// The commands for domains and texts at /.well-known/.

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
  const domain = program.command('domain').description('manage custom domains of the service');
  domain
    .command('add <domain>')
    .description('add a domain, and print its DNS records')
    .addOption(json())
    .action((name: string, _flags, command: Command) => addDomain(runOf(command), name));
  domain
    .command('ls')
    .description('list domains')
    .addOption(json())
    .action((flags, command: Command) => listDomains(runOf(command), flags));
  domain
    .command('rm <domain>')
    .description('remove a domain')
    .addOption(json())
    .action((name: string, _flags, command: Command) => removeDomain(runOf(command), name));
  const wellKnown = program
    .command('well-known')
    .description('manage texts at /.well-known/, which programs look up');
  wellKnown
    .command('set <name> <file>')
    .description('set a text from a file; - is standard input')
    .addOption(json())
    .option('--type <type>', 'media type (default: by the name)')
    .action((name: string, file: string, flags, command: Command) =>
      setWellKnown(runOf(command), { name, file }, flags),
    );
  wellKnown
    .command('ls')
    .description('list texts')
    .addOption(json())
    .action((flags, command: Command) => listWellKnown(runOf(command), flags));
  wellKnown
    .command('rm <name>')
    .description('remove a text')
    .addOption(json())
    .action((name: string, _flags, command: Command) => removeWellKnown(runOf(command), name));
}
