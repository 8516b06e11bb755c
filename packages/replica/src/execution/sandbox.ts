// One instance of a canister's module, whose whole state (heap and globals; code cannot change a
// table) can be reset to the last commit.

import { osPageBytes, wasmPageBytes } from '../core.ts';
import type { CompiledModule } from '../wasm/compile.ts';
import {
  callbackExport,
  counterExport,
  exhaustedExport,
  globalExport,
  memoryExport,
  tableExport,
} from '../wasm/instrument.ts';
import type {
  WasmExports,
  WasmFunction,
  WasmGlobal,
  WasmImports,
  WasmMemory,
  WasmTable,
} from '../wasm/web-assembly.ts';
import { isBadIndirectCall, webAssembly } from '../wasm/web-assembly.ts';
import { contractViolation, functionNotFound, signatureMismatch, trapped } from './errors.ts';
import type { PageImages } from './heap-shadow.ts';
import { HeapShadow } from './heap-shadow.ts';
import { restoredValue, storedValue, vectorGlobal } from './register-values.ts';

/** The values of the mutable globals. */
type Registers = readonly unknown[];

/** Globals in their stored form. */
export interface StoredRegisters {
  readonly globals: readonly Uint8Array[];
}

/** A heap to copy into an instance. */
export interface HeapImage {
  readonly bytes: number;
  /** Fills `target`, which is all zeros, with the heap. */
  readonly read: (target: Uint8Array) => void;
}

/** A stored instance or, without `registers`, the heap that a new instance takes over. */
export interface StoredImage extends HeapImage {
  readonly registers?: StoredRegisters;
}

/** The changes of a query, saved until its callback runs. */
export interface SandboxState {
  readonly heapBytes: number;
  readonly pages: PageImages;
  readonly registers: Registers;
}

function globalOf(exports: WasmExports, name: string): WasmGlobal {
  const value = exports[name];
  if (!(value instanceof webAssembly.Global)) throw new Error(`the module lacks ${name}`);
  return value;
}

export class Sandbox {
  readonly module: CompiledModule;
  readonly #imports: WasmImports;
  readonly #shadow = new HeapShadow();
  #exports: WasmExports;
  #counter: WasmGlobal;
  #exhausted: WasmGlobal;
  #globals: WasmGlobal[] = [];
  #memory: WasmMemory | undefined;
  #committed: Registers;
  #dirty: number[] | undefined;
  #heap: Buffer | undefined;

  /** Creates a fresh instance, or one from an image; throws for an image of another module. */
  constructor(module: CompiledModule, imports: WasmImports, image?: StoredImage) {
    this.module = module;
    this.#imports = imports;
    this.#exports = this.#instantiate();
    this.#counter = globalOf(this.#exports, counterExport);
    this.#exhausted = globalOf(this.#exports, exhaustedExport);
    this.#bind();
    this.#committed = this.#registers();
    this.commit();
    if (image !== undefined) this.#takeOver(image);
  }

  #takeOver({ bytes, read, registers }: StoredImage): void {
    const dirty = this.usedPages();
    this.#growTo(bytes);
    const heap = this.heap();
    // As on the network, a new module's larger memory keeps its size beyond the restored heap.
    if (heap.length < bytes || (registers && heap.length !== bytes)) {
      throw new Error('its stored heap does not match its module');
    }
    for (const page of dirty) heap.fill(0, page * osPageBytes, (page + 1) * osPageBytes);
    read(heap.subarray(0, bytes));
    const values = registers?.globals.map((stored, index) =>
      restoredValue(stored, this.#committed[index]),
    );
    if (values) this.#setRegisters(values);
    this.commit();
  }

  /** If active segments do not fit, V8 throws a RuntimeError: a trap of the canister. */
  #instantiate(): WasmExports {
    return new webAssembly.Instance(this.module.compiled, this.#imports).exports;
  }

  #bind(): void {
    const { shape } = this.module;
    const exports = this.#exports;
    this.#counter = globalOf(exports, counterExport);
    this.#exhausted = globalOf(exports, exhaustedExport);
    const memory = exports[memoryExport];
    this.#memory = memory instanceof webAssembly.Memory ? memory : undefined;
    this.#globals = [
      ...shape.globals.map((index) => globalOf(exports, globalExport(index))),
      ...shape.vectors.map((index) => vectorGlobal(exports, index)),
    ];
  }

  #registers(): Registers {
    return this.#globals.map((global) => global.value as unknown);
  }

  #setRegisters(values: Registers): void {
    // Early versions did not store vectors.
    values.forEach((value, index) => {
      const global = this.#globals[index];
      if (global) global.value = value;
    });
  }

  /** Returns the live heap, a view that `memory.grow` invalidates, so call it each time. */
  heap(): Buffer {
    const buffer = this.#memory?.buffer;
    if (buffer === undefined) return Buffer.alloc(0);
    if (this.#heap === undefined || this.#heap.buffer !== buffer) this.#heap = Buffer.from(buffer);
    return this.#heap;
  }

  get instructionsLeft(): bigint {
    return this.#counter.value as bigint;
  }

  set instructionsLeft(value: bigint) {
    this.#counter.value = value;
    this.#exhausted.value = 0;
  }

  /** Returns whether the module itself stopped because it ran out of instructions. */
  get isExhausted(): boolean {
    return this.#exhausted.value === 1;
  }

  callExport(name: string): void {
    const entry = this.#exports[name];
    if (typeof entry !== 'function') throw trapped(`there is no function ${name}`);
    entry();
  }

  /** Calls a callback: the function at `index` of the table. IC spec, "Entry points". */
  callTable(index: number, environment: number | bigint): void {
    const table = this.#exports[tableExport];
    if (!(table instanceof webAssembly.Table)) throw contractViolation('table not found');
    if (index >= Number(table.length)) throw functionNotFound(index);
    const call = this.#exports[callbackExport];
    if (typeof call !== 'function') throw contractViolation('not a function reference');
    if (this.#placeIn(table, index) === null) {
      throw contractViolation('unexpected null function reference');
    }
    this.#callBack(call as WasmFunction, this.#word(environment), index);
  }

  /** A trap before the first instruction is that of a callback with another type. */
  #callBack(call: WasmFunction, environment: number | bigint, index: number): void {
    const before = this.instructionsLeft;
    try {
      call(environment, index);
    } catch (error) {
      const hasBegun = this.instructionsLeft !== before;
      throw hasBegun || !isBadIndirectCall(error) ? error : signatureMismatch();
    }
  }

  /** Returns whether a place in the table has no function. */
  hasEmptyPlaces(): boolean {
    const table = this.#exports[tableExport];
    if (!(table instanceof webAssembly.Table)) return false;
    for (let index = 0; index < Number(table.length); index += 1) {
      if (this.#placeIn(table, index) === null) return true;
    }
    return false;
  }

  #placeIn(table: WasmTable, index: number): unknown {
    return table.get(this.module.shape.tableAddress === 'I' ? BigInt(index) : index);
  }

  #word(value: number | bigint): number | bigint {
    if (this.module.shape.address === 'I') return BigInt.asIntN(64, BigInt(value));
    if (value > 0xffff_ffff) {
      throw contractViolation(`error converting additional value ${value} to u32`);
    }
    return Number(value) | 0;
  }

  /** Returns the number of 4 KiB pages of the heap that differ from the last commit. */
  dirtyPages(): number {
    this.#dirty = this.#shadow.scan(this.heap());
    return this.#dirty.length;
  }

  /** Returns the changes that the next commit will make to the heap. */
  changes(): { readonly heap: Buffer; readonly former: Buffer; readonly dirty: readonly number[] } {
    const heap = this.heap();
    this.#dirty ??= this.#shadow.scan(heap);
    return { heap, former: this.#shadow.committed(), dirty: this.#dirty };
  }

  /** Returns the indices of the 4 KiB pages of the heap that are not all zeros. */
  usedPages(): number[] {
    return new HeapShadow().scan(this.heap());
  }

  /** Returns the values of the globals that code can change, without vectors. */
  globalValues(): readonly unknown[] {
    return this.#registers().slice(0, this.module.shape.globals.length);
  }

  /** Returns the live heap for another instance. */
  heapImage(): HeapImage {
    const heap = this.heap();
    const read = (target: Uint8Array) => {
      for (const page of this.usedPages()) {
        const start = page * osPageBytes;
        heap.copy(target, start, start, start + osPageBytes);
      }
    };
    return { bytes: heap.length, read };
  }

  storedRegisters(): StoredRegisters {
    return { globals: this.#registers().map(storedValue) };
  }

  commit(): void {
    const heap = this.heap();
    this.#shadow.commit(heap, this.#dirty ?? this.#shadow.scan(heap));
    this.#committed = this.#registers();
    this.#dirty = undefined;
  }

  rollback(): void {
    const heap = this.heap();
    if (heap.length !== this.#shadow.size) this.#recreate();
    else {
      this.#shadow.restore(heap, this.#dirty ?? this.#shadow.scan(heap));
      this.#setRegisters(this.#committed);
    }
    this.#dirty = undefined;
  }

  /** A memory cannot shrink, so a new instance takes over the committed state. */
  #recreate(): void {
    this.#exports = this.#instantiate();
    this.#heap = undefined;
    this.#bind();
    this.#growTo(this.#shadow.size);
    this.#shadow.restoreAll(this.heap());
    this.#setRegisters(this.#committed);
  }

  #growTo(bytes: number): void {
    const missing = bytes - this.heap().length;
    if (missing <= 0) return;
    const pages = missing / wasmPageBytes;
    this.#memory?.grow(this.module.shape.address === 'I' ? BigInt(pages) : pages);
  }

  /** Returns the changes since the last commit, before a rollback discards them. */
  capture(): SandboxState {
    const heap = this.heap();
    const dirty = this.#dirty ?? this.#shadow.scan(heap);
    const pages = dirty.map((page) => {
      const start = page * osPageBytes;
      return { page, bytes: new Uint8Array(heap.subarray(start, start + osPageBytes)) };
    });
    return { heapBytes: heap.length, pages, registers: this.#registers() };
  }

  /** Applies a saved state on top of the last commit. */
  apply(state: SandboxState): void {
    this.#growTo(state.heapBytes);
    const heap = this.heap();
    for (const { page, bytes } of state.pages) heap.set(bytes, page * osPageBytes);
    this.#setRegisters(state.registers);
    this.#dirty = undefined;
  }
}
