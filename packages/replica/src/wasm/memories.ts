// Reads a module's declarations of memory and tables, and the segments that fill them. WebAssembly
// Core specification, §5.5.7, §5.5.8, §5.5.12, §5.5.14. The proposal "memory64" adds 64-bit tables.

import type { ByteReader } from './byte-reader.ts';
import { readConstant } from './instruction.ts';
import { notValidated } from './invalid-module.ts';
import { openVector, type Sections, section } from './sections.ts';

/** The type of an address: `i` in a 32-bit memory or without a memory, `I` in a 64-bit one. */
export type Address = 'i' | 'I';

export interface MemoryShape {
  readonly address: Address;
  /** In pages of 64 KiB. From 2^53 on the number is rounded, but any limit is far lower. */
  readonly minimum: number;
  readonly maximum: number | undefined;
}

export interface TableShape {
  readonly holdsFunctions: boolean;
  /** The type of an index. */
  readonly address: Address;
  readonly minimum: number;
}

const limitFlag = { maximum: 1, shared: 2, wide: 4 } as const;

function readLimits(reader: ByteReader): MemoryShape {
  const flags = reader.byte();
  if (flags & limitFlag.shared) throw notValidated('threads must be enabled for shared memories');
  if (flags > 7) throw notValidated('the custom page sizes proposal must be enabled');
  const isWide = (flags & limitFlag.wide) !== 0;
  const read = () => (isWide ? reader.u64() : reader.u32());
  const minimum = read();
  const maximum = flags & limitFlag.maximum ? read() : undefined;
  return { address: isWide ? 'I' : 'i', minimum, maximum };
}

export function readMemory(sections: Sections): MemoryShape | undefined {
  const { reader, count } = openVector(sections, section.memory);
  if (count > 1) throw notValidated('multiple memories');
  return count === 0 ? undefined : readLimits(reader);
}

export function readTables(sections: Sections): TableShape[] {
  const { reader, count } = openVector(sections, section.table);
  return Array.from({ length: count }, () => {
    const type = reader.byte();
    if (type !== 0x70 && type !== 0x6f)
      throw notValidated(`a table of type 0x${type.toString(16)}`);
    const { address, minimum } = readLimits(reader);
    return { holdsFunctions: type === 0x70, address, minimum };
  });
}

/** Returns the opcode of the one instruction in each active data segment's offset. */
export function readDataOffsets(sections: Sections): number[] {
  const { reader, count } = openVector(sections, section.data);
  const offsets: number[] = [];
  for (let segment = 0; segment < count; segment += 1) {
    const flags = reader.u32();
    if (flags === 2) reader.u32();
    if (flags !== 1) offsets.push(readConstant(reader));
    reader.blob();
  }
  return offsets;
}

/** Reads the element segments; V8 validates their content, except for the constants. */
export function checkElements(sections: Sections): void {
  const { reader, count } = openVector(sections, section.element);
  for (let segment = 0; segment < count; segment += 1) {
    const flags = reader.u32();
    if ((flags & 1) === 0) {
      if (flags & 2) reader.u32();
      readConstant(reader);
    }
    if (flags & 3) reader.byte();
    for (let entries = reader.u32(); entries > 0; entries -= 1) {
      if (flags & 4) readConstant(reader);
      else reader.u32();
    }
  }
}
