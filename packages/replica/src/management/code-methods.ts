// Management methods for code: installation as a whole or from chunks, and the chunk store.

import type { Principal } from '@dfinity/principal';
import type {
  ChangeOrigin,
  InstallMode,
  Lifecycle,
  ManagementCall,
  Reject,
  UpgradeOptions,
} from '../core.ts';
import { isSame } from './access.ts';
import type { Arguments, InstallModeArgument } from './candid-types.ts';
import { type Done, done, type Handlers, originOf, type Parts } from './handlers.ts';
import { canisterNotFound, isReject, notController } from './rejects.ts';

type CodeMethod =
  | 'install_code'
  | 'install_chunked_code'
  | 'upload_chunk'
  | 'stored_chunks'
  | 'clear_chunk_store';

export function codeMethods(parts: Parts): Handlers<CodeMethod> {
  const { lifecycle, chunks } = parts;
  return {
    install_code: (argument, call) => {
      const { canister_id: canisterId, wasm_module: module, mode, arg } = argument;
      const origin = originOf(call, argument.sender_canister_version);
      return install(lifecycle, { canisterId, module, mode, arg, sender: call.caller, origin });
    },
    install_chunked_code: (argument, call) => installChunked(parts, { argument, call }),
    upload_chunk: ({ canister_id: id, chunk }) => {
      const hash = chunks.upload(id.toText(), chunk);
      return isReject(hash) ? hash : { value: { hash } };
    },
    stored_chunks: ({ canister_id: id }) => ({
      value: chunks.hashes(id.toText()).map((hash) => ({ hash })),
    }),
    clear_chunk_store: ({ canister_id: id }) => {
      chunks.clear(id.toText());
      return {};
    },
  };
}

async function install(
  lifecycle: Lifecycle,
  wanted: {
    readonly canisterId: Principal;
    readonly mode: InstallModeArgument;
    readonly module: Uint8Array;
    readonly arg: Uint8Array;
    readonly sender: Principal;
    readonly origin: ChangeOrigin;
  },
): Promise<Done | Reject> {
  const { canisterId, module, arg, sender, origin } = wanted;
  const options = { canisterId, module, arg, sender, origin, ...modeOf(wanted.mode) };
  return done(await lifecycle.install(options));
}

function modeOf(mode: InstallModeArgument): {
  readonly mode: InstallMode;
  readonly upgrade?: UpgradeOptions;
} {
  if ('install' in mode) return { mode: 'install' };
  if ('reinstall' in mode) return { mode: 'reinstall' };
  const [options] = mode.upgrade;
  const skipPreUpgrade = options?.skip_pre_upgrade[0] ?? false;
  const persistence = options?.wasm_memory_persistence[0];
  if (persistence === undefined) return { mode: 'upgrade', upgrade: { skipPreUpgrade } };
  const wasmMemoryPersistence = 'keep' in persistence ? 'keep' : 'replace';
  return { mode: 'upgrade', upgrade: { skipPreUpgrade, wasmMemoryPersistence } };
}

/** The caller must control the target, and must control or be the canister with the store. */
async function installChunked(
  { lifecycle, chunks }: Parts,
  request: { readonly argument: Arguments['install_chunked_code']; readonly call: ManagementCall },
): Promise<Done | Reject> {
  const { target_canister: canisterId, mode, arg } = request.argument;
  const { caller } = request.call;
  const store = request.argument.store_canister[0] ?? canisterId;
  if (!isSame(store, caller)) {
    const view = lifecycle.canister(store);
    if (view === undefined) return canisterNotFound(store);
    const isController = view.controllers.some((one) => isSame(one, caller));
    if (!isController) return notController(store, 'install_chunked_code');
  }
  const module = chunks.assemble(store.toText(), {
    hashes: request.argument.chunk_hashes_list.map(({ hash }) => hash),
    moduleHash: request.argument.wasm_module_hash,
  });
  if (isReject(module)) return module;
  const origin = originOf(request.call, request.argument.sender_canister_version);
  return install(lifecycle, { canisterId, mode, module, arg, sender: caller, origin });
}
