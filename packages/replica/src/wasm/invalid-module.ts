// The errors of this folder: a module that cannot be installed, with a message for its author.

export class InvalidModule extends Error {
  override readonly name = 'InvalidModule';
}

/** A well-formed module that the network's engine refuses to run. */
export class EngineRefusal extends InvalidModule {
  constructor(why: string) {
    super(`Canister encountered a Wasm engine error: Failed to instantiate module: ${why}`);
  }
}

/** Returns the error for bytes that are no module: `dfinity/ic` validation.rs, DecodingError. */
export function notDecoded(why: string): InvalidModule {
  return new InvalidModule(`Failed to decode wasm module: ${why}`);
}

/** Returns the error for a rule that the network's engine, wasmtime, validates. */
export function notValidated(why: string): InvalidModule {
  return new InvalidModule(
    `Wasmtime failed to validate wasm module wasmtime::Module::validate() failed with ${why}`,
  );
}
