// The command `local-replica`: runs a local Internet Computer with named canisters until Ctrl-C.

import { startReplica } from '../replica.ts';
import { bringUp, namedWasm } from './canisters.ts';
import { optionsUsage, readOptions } from './options.ts';

const usage = `Usage: local-replica [options] [[NAME=]FILE.wasm…]

Installs each Wasm, plain or gzip-compressed, on a canister of that name; a later start upgrades the
canister if the file has changed. Without a file, agents install canisters, as dfx and icp do.

${optionsUsage}
  --controller PRINCIPAL
                controls the canisters created here; may be repeated; default: the anonymous
                principal, which is everybody`;

export async function main(args: readonly string[]): Promise<void> {
  const options = readOptions(args, true);
  if (options.isHelp) {
    console.log(usage);
    return;
  }
  const replica = await startReplica(options.replica);
  const stop = () => replica.stop().then(() => process.exit(0));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  try {
    for (const word of options.words) {
      const wasm = namedWasm(word);
      const { id, action } = await bringUp(replica, options, wasm);
      console.log(`${wasm.name}  ${id}  http://${id}.localhost:${replica.port}  (${action})`);
    }
  } catch (error) {
    await replica.stop();
    throw error;
  }
  console.log(`The local replica serves agents and browsers at ${replica.url}; Ctrl-C stops it.`);
}
