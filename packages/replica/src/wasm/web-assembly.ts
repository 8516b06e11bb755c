// V8's WebAssembly interface, typed as far as the replica uses it: TypeScript declares it in its
// DOM library alone, which a Node program does not load. W3C, "WebAssembly JavaScript Interface".

export interface WasmModule {
  readonly [Symbol.toStringTag]: string;
}

export interface WasmGlobal {
  value: unknown;
}

export interface WasmTable {
  readonly length: number;
  get(index: number): unknown;
  set(index: number, entry: unknown): void;
  grow(count: number): number;
}

export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
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
