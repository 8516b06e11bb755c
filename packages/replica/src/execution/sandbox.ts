// One instance of a canister's module, whose whole state (heap, globals, tables) can be taken back
// to what it was at the last commit. It knows nothing of messages.

import { osPageBytes, wasmPageBytes } from '../core.ts';
import type { CompiledModule } from '../wasm/compile.ts';
import {
  counterExport,
  exhaustedExport,
  functionExport,
  globalExport,
  memoryExport,
  tableExport,
} from '../wasm/instrument.ts';
import type {
  WasmExports,
  WasmGlobal,
  WasmImports,
  WasmMemory,
  WasmTable,
} from '../wasm/web-assembly.ts';
import { webAssembly } from '../wasm/web-assembly.ts';
import { trapped } from './errors.ts';
import type { PageImages } from './heap-shadow.ts';
import { HeapShadow } from './heap-shadow.ts';
import { restoredValue, type StoredValue, storedValue } from './register-values.ts';

type Entry = unknown;

/** State outside of the heap. */
interface Registers {
  readonly globals: readonly unknown[];
  readonly tables: readonly (readonly Entry[])[];
}

/** Globals and tables as they are stored. */
export interface StoredRegisters {
  readonly globals: readonly StoredValue[];
  readonly tables: readonly (readonly StoredValue[])[];
  /** Why they could not be kept; empty when they were. */
  readonly unkept: string;
}

/** An instance as it was stored. */
export interface StoredImage {
  /** Of the heap. */
  readonly bytes: number;
  /** Fills `target` with the heap. */
  readonly read: (target: Uint8Array) => void;
  readonly registers: StoredRegisters;
}

/** Everything a query changed, put aside until its callback runs. */
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
  #tables: WasmTable[] = [];
  #memory: WasmMemory | undefined;
  /** Functions that tables can hold, in an order that is the same in each instance. */
  #functions: Entry[] = [];
  /** The same function of this instance and of those before it, to its place in that order. */
  readonly #places = new WeakMap<object, number>();
  #committed: Registers;
  #dirty: number[] | undefined;
  #heap: Buffer | undefined;

  /** A fresh instance, or one as it was stored. Throws when that could not be kept. */
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
    if (registers.unkept !== '') {
      throw new Error(
        `its heap was kept, and what belongs to it could not be: ${registers.unkept}`,
      );
    }
    this.#growTo(bytes);
    if (this.heap().length !== bytes) throw new Error('its stored heap is not of this module');
    read(this.heap());
    const functions = this.#functions;
    this.#setRegisters({
      globals: registers.globals.map((stored, index) =>
        restoredValue(stored, { like: this.#committed.globals[index], functions }),
      ),
      tables: registers.tables.map((entries) =>
        entries.map((stored) => restoredValue(stored, { like: null, functions })),
      ),
    });
    this.commit();
  }

  /** Active segments that do not fit throw a RuntimeError of V8: a trap of the canister. */
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
    this.#globals = shape.globals.map((index) => globalOf(exports, globalExport(index)));
    if (!shape.changesTables) {
      this.#tables = [];
      const first = exports[tableExport(0)];
      if (first instanceof webAssembly.Table) this.#tables.push(first);
      return;
    }
    this.#tables = Array.from({ length: shape.tables }, (_, index) => {
      const table = exports[tableExport(index)];
      if (!(table instanceof webAssembly.Table)) throw new Error('the module lacks its table');
      return table;
    });
    const initial = this.#tables.flatMap(readTable);
    const named = shape.functions.map((index) => exports[functionExport(index)]);
    this.#functions = [...initial, ...named];
    this.#functions.forEach((entry, place) => {
      if (typeof entry === 'function') this.#places.set(entry, place);
    });
  }

  #registers(): Registers {
    const { changesTables } = this.module.shape;
    return {
      globals: this.#globals.map((global) => global.value as unknown),
      tables: changesTables ? this.#tables.map(readTable) : [],
    };
  }

  /** A function of a former instance becomes that of this one. */
  #translate(entry: Entry): Entry {
    const place = typeof entry === 'function' ? this.#places.get(entry) : undefined;
    return place === undefined ? entry : this.#functions[place];
  }

  #setRegisters(registers: Registers): void {
    this.#globals.forEach((global, index) => {
      global.value = this.#translate(registers.globals[index]);
    });
    registers.tables.forEach((entries, index) => {
      const table = this.#tables[index];
      const translated = entries.map((entry) => this.#translate(entry));
      if (table) writeTable(table, translated);
    });
  }

  /** The live heap; a view that `memory.grow` invalidates, so it is asked for each time. */
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

  /** Whether the module itself stopped for want of instructions. */
  get isExhausted(): boolean {
    return this.#exhausted.value === 1;
  }

  /** Calls an exported function without arguments. */
  callExport(name: string): void {
    const entry = this.#exports[name];
    if (typeof entry !== 'function') throw trapped(`there is no function ${name}`);
    entry();
  }

  /** Calls a callback: an entry of table 0 of type `(i32) -> ()`. */
  callTable(index: number, environment: number): void {
    const table = this.#tables[0];
    const entry = table && index < table.length ? (table.get(index) as unknown) : undefined;
    if (typeof entry !== 'function') throw trapped('table out of bounds');
    entry(environment | 0);
  }

  /** 4 KiB pages of the heap that differ from the last commit. */
  dirtyPages(): number {
    this.#dirty = this.#shadow.scan(this.heap());
    return this.#dirty.length;
  }

  /** What the next commit will make of the heap. */
  changes(): { readonly heap: Buffer; readonly former: Buffer; readonly dirty: readonly number[] } {
    const heap = this.heap();
    this.#dirty ??= this.#shadow.scan(heap);
    return { heap, former: this.#shadow.committed(), dirty: this.#dirty };
  }

  /** 4 KiB pages of the heap that are not all zeros. */
  usedPages(): number[] {
    return new HeapShadow().scan(this.heap());
  }

  /** Of the globals that code can change. */
  globalValues(): readonly unknown[] {
    return this.#globals.map((global) => global.value as unknown);
  }

  storedRegisters(): StoredRegisters {
    const { globals, tables } = this.#registers();
    const place = (entry: object) => this.#places.get(entry);
    try {
      return {
        globals: globals.map((value) => storedValue(value, place)),
        tables: tables.map((entries) => entries.map((entry) => storedValue(entry, place))),
        unkept: '',
      };
    } catch (error) {
      const unkept = error instanceof Error ? error.message : String(error);
      return { globals: [], tables: [], unkept };
    }
  }

  commit(): void {
    const heap = this.heap();
    this.#shadow.commit(heap, this.#dirty ?? this.#shadow.scan(heap));
    this.#committed = this.#registers();
    this.#dirty = undefined;
  }

  rollback(): void {
    const heap = this.heap();
    const grownTable = this.#tables.some(
      (table, index) => table.length !== (this.#committed.tables[index]?.length ?? table.length),
    );
    if (heap.length !== this.#shadow.size || grownTable) this.#recreate();
    else {
      this.#shadow.restore(heap, this.#dirty ?? this.#shadow.scan(heap));
      this.#setRegisters(this.#committed);
    }
    this.#dirty = undefined;
  }

  /** Neither memory nor tables can shrink: a new instance takes the committed state over. */
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
    if (missing > 0) this.#memory?.grow(missing / wasmPageBytes);
  }

  /** What differs from the last commit, before a rollback takes it away. */
  capture(): SandboxState {
    const heap = this.heap();
    const dirty = this.#dirty ?? this.#shadow.scan(heap);
    const pages = dirty.map((page) => {
      const start = page * osPageBytes;
      return { page, bytes: new Uint8Array(heap.subarray(start, start + osPageBytes)) };
    });
    return { heapBytes: heap.length, pages, registers: this.#registers() };
  }

  /** Puts a captured state back on top of the last commit. */
  apply(state: SandboxState): void {
    this.#growTo(state.heapBytes);
    const heap = this.heap();
    for (const { page, bytes } of state.pages) heap.set(bytes, page * osPageBytes);
    this.#setRegisters(state.registers);
    this.#dirty = undefined;
  }
}

function readTable(table: WasmTable): Entry[] {
  return Array.from({ length: table.length }, (_, index) => table.get(index) as Entry);
}

function writeTable(table: WasmTable, entries: readonly Entry[]): void {
  if (entries.length > table.length) table.grow(entries.length - table.length);
  entries.forEach((entry, index) => {
    if (table.get(index) !== entry) table.set(index, entry as Entry);
  });
}
