// `efs subscription`: its flags and help.

import type { Command } from 'commander';
import { collect, json, runOf, wholeNumber } from '../config/flags.ts';
import {
  addSubscription,
  listSubscriptions,
  removeSubscriptions,
  resumeSubscriptions,
} from './subscriptions.ts';

export function addSubscriptions(program: Command): void {
  const subscription = program
    .command('subscription')
    .description('manage canisters that receive the changes in a bucket');
  subscription
    .command('add <bucket> <canister-id>')
    .description('call a method of the canister with each later change in the bucket')
    .option('--method <name>', 'the method; its name begins with efs_', 'efs_events')
    .option('--prefix <prefix>', 'only changes of paths with this prefix, such as logs/')
    .option('--kind <kind>', 'only changes of this kind, such as file.stored (repeat it)', collect)
    .option('--after <n>', 'also earlier changes, after this entry of the journal', wholeNumber)
    .addOption(json())
    .action((bucket: string, canisterId: string, flags, command: Command) =>
      addSubscription(runOf(command), bucket, { canisterId, ...flags }),
    );
  subscription
    .command('ls <bucket>')
    .description('list subscriptions, and how their deliveries go')
    .addOption(json())
    .action((bucket: string, flags, command: Command) =>
      listSubscriptions(runOf(command), bucket, flags),
    );
  subscription
    .command('resume <bucket> <ids...>')
    .description('deliver to subscribers again that were paused after a day of failures')
    .addOption(json())
    .action((bucket: string, ids: string[], _flags, command: Command) =>
      resumeSubscriptions(runOf(command), bucket, ids),
    );
  subscription
    .command('rm <bucket> <ids...>')
    .description('remove subscriptions')
    .addOption(json())
    .action((bucket: string, ids: string[], _flags, command: Command) =>
      removeSubscriptions(runOf(command), bucket, ids),
    );
}
