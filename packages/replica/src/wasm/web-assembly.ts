// V8's WebAssembly interface, typed as far as the replica uses it: TypeScript declares it only in
// its DOM library, which a Node program does not load. W3C, "WebAssembly JavaScript Interface".

export interface WasmModule {
  readonly [Symbol.toStringTag]: string;
}

export interface WasmGlobal {
  value: unknown;
}

export interface WasmTable {
  /** `bigint` for a table with 64-bit indices, as is the index. */
  readonly length: number | bigint;
  get(index: number | bigint): unknown;
}

export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  /** `bigint` for a 64-bit memory. */
  grow(pages: number | bigint): number | bigint;
}

export type WasmExports = Readonly<Record<string, unknown>>;
export type WasmFunction = (...args: (number | bigint)[]) => number | bigint | undefined;
export type WasmImports = Readonly<Record<string, Readonly<Record<string, WasmFunction>>>>;

interface ModuleConstructor {
  new (bytes: Uint8Array): WasmModule;
  exports(module: WasmModule): { readonly name: string; readonly kind: string }[];
}

interface WebAssemblyInterface {
  readonly Module: ModuleConstructor;
  readonly Instance: new (
    module: WasmModule,
    imports: WasmImports,
  ) => { readonly exports: WasmExports };
  readonly Global: new (...unused: never[]) => WasmGlobal;
  readonly Table: new (...unused: never[]) => WasmTable;
  readonly Memory: new (...unused: never[]) => WasmMemory;
  readonly RuntimeError: new (message?: string) => Error;
}

export const webAssembly = (globalThis as unknown as { readonly WebAssembly: WebAssemblyInterface })
  .WebAssembly;

/** Returns whether a call through the table met an empty place or a function of another type. */
export function isBadIndirectCall(error: unknown): boolean {
  return error instanceof webAssembly.RuntimeError && error.message.includes('signature mismatch');
}

/** A module that exports a 64-bit memory without pages as `m`. */
const memory64 = Uint8Array.of(
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
  ...[0x05, 0x03, 0x01, 0x04, 0x00, 0x07, 0x05, 0x01, 0x01, 0x6d, 0x02, 0x00],
);

/** Returns whether this V8 supports standard 64-bit memories: Node 24 and later. */
export function hasMemory64(): boolean {
  try {
    const { m } = new webAssembly.Instance(new webAssembly.Module(memory64), {}).exports;
    return m instanceof webAssembly.Memory && m.grow(0n) === 0n;
  } catch {
    return false;
  }
}
