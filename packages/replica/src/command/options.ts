// The options of all commands that start a replica.

import { parseArgs } from 'node:util';
import type { PreflightMode } from '../gateway/gateway.ts';
import { fetchOutcalls } from '../outcalls.ts';
import type { ReplicaOptions } from '../replica.ts';
import { subnetCountMax } from '../subnet-ranges.ts';
import { type SubnetType, subnetTypes } from '../subnet-type.ts';
import { reportLine } from './report-line.ts';

export const optionsUsage = `  --port N      port of the gateway and the agent endpoints (default 4943)
  --state DIR   folder that keeps the state (default .replica)
  --clean       delete the state and start with an empty one
  --repair      if the state is damaged, restore the last intact one and print what is lost
  --allow-origin ORIGIN
                pages of this origin (https://example.org) may reach the agent endpoints, as those
                of localhost may; may be repeated
  --subnets N   run N subnets (1 to 16), whose certificates have a delegation of the root subnet;
                without it the root subnet runs all canisters, and certificates have none
  --subnet-type application|system|cloud-engine
                what the subnets of new canisters charge and allow (default application): system
                charges nothing, as the NNS subnet; cloud-engine charges nothing, its canisters hold
                no cycles, and calls that leave it wait a bounded time and carry none
  --outcalls    canisters may make HTTPS outcalls from this machine; without TLS only to itself
  --profile mainnet
                as slow as the network: rounds of a second, its rate limits, and the cache of its
                HTTP gateways
  --seed N      seed of the random decisions of a profile (default 1)
  --preflights passed-on|answered
                whether OPTIONS goes to canisters (default), as by ic-gateway with
                --cors-canister-passthrough, or the gateway answers it, as without that option
  --verbose     a line for each message: instructions, cycles, pages, milliseconds
  --help        this text`;

export interface CommandOptions {
  readonly stateDir: string;
  readonly isHelp: boolean;
  readonly words: readonly string[];
  readonly controllers: readonly string[];
  readonly replica: ReplicaOptions;
}

/** Throws an Error that describes the fault. */
export function readOptions(args: readonly string[], takesWords: boolean): CommandOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: takesWords,
    options: {
      port: { type: 'string', default: '4943' },
      state: { type: 'string', default: '.replica' },
      clean: { type: 'boolean', default: false },
      repair: { type: 'boolean', default: false },
      'allow-origin': { type: 'string', multiple: true, default: [] },
      controller: { type: 'string', multiple: true, default: [] },
      subnets: { type: 'string' },
      'subnet-type': { type: 'string' },
      outcalls: { type: 'boolean', default: false },
      profile: { type: 'string' },
      seed: { type: 'string' },
      preflights: { type: 'string', default: 'passed-on' },
      verbose: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Error(`--port must be a number from 0 to 65535; got ${values.port}`);
  }
  return {
    stateDir: values.state,
    isHelp: values.help,
    words: positionals,
    controllers: values.controller,
    replica: {
      port,
      stateDir: values.state,
      clean: values.clean,
      repair: values.repair,
      onNote: (sentence) => console.log(sentence),
      allowedOrigins: values['allow-origin'],
      preflights: preflightMode(values.preflights),
      onPrint: (canisterId, text) => console.log(`[${canisterId}] ${text}`),
      ...(values.subnets !== undefined && { subnets: subnetCount(values.subnets) }),
      ...(values['subnet-type'] !== undefined && {
        subnetType: subnetType(values['subnet-type']),
      }),
      ...(values.outcalls && { outcalls: fetchOutcalls }),
      ...(values.profile !== undefined && { profile: values.profile }),
      ...(values.seed !== undefined && { seed: Number(values.seed) }),
      ...(values.verbose && { onReport: (report) => console.log(reportLine(report)) }),
    },
  };
}

function subnetCount(word: string): number {
  const count = Number(word);
  if (Number.isInteger(count) && count >= 1 && count <= subnetCountMax) return count;
  throw new Error(`--subnets must be a number from 1 to ${subnetCountMax}; got ${word}`);
}

function subnetType(word: string): SubnetType {
  const found = subnetTypes.find((type) => type === word);
  if (found !== undefined) return found;
  throw new Error(`--subnet-type must be one of ${subnetTypes.join(', ')}; got ${word}`);
}

function preflightMode(word: string): PreflightMode {
  if (word === 'passed-on' || word === 'answered') return word;
  throw new Error(`--preflights must be passed-on or answered; got ${word}`);
}
