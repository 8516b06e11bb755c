// Values of globals and their stored bytes: the 8 of an i64 or f64, little endian, or the 16 of a
// vector. A NaN loses its payload, as in JavaScript.

import { vectorExports } from '../wasm/instrument.ts';
import type { WasmExports, WasmGlobal } from '../wasm/web-assembly.ts';

/** Throws for a value of another type. */
export function storedValue(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  const bytes = Buffer.alloc(8);
  if (typeof value === 'bigint') bytes.writeBigInt64LE(value);
  else if (typeof value === 'number') bytes.writeDoubleLE(value);
  else throw new Error('a global does not hold a number');
  return bytes;
}

/** `like`: a value of the same type, which distinguishes 64-bit integers from floating point. */
export function restoredValue(stored: Uint8Array, like: unknown): unknown {
  if (like instanceof Uint8Array) return stored;
  const bytes = Buffer.from(stored);
  return typeof like === 'bigint' ? bytes.readBigInt64LE() : bytes.readDoubleLE();
}

/** Returns a vector global, whose value is 16 bytes. */
export function vectorGlobal(exports: WasmExports, index: number): WasmGlobal {
  const names = vectorExports(index);
  const get = exports[names.get] as () => [bigint, bigint];
  const set = exports[names.set] as (low: bigint, high: bigint) => void;
  return {
    get value(): unknown {
      return new Uint8Array(BigInt64Array.from(get()).buffer);
    },
    set value(bytes: unknown) {
      const view = Buffer.from(bytes as Uint8Array);
      set(view.readBigInt64LE(0), view.readBigInt64LE(8));
    },
  };
}
