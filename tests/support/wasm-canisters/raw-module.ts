// Builds modules of any size, section by section, for which an assembler is too slow or which it
// refuses. WebAssembly Core specification, §5.5 "Modules".

import { ByteWriter } from '../../../packages/replica/src/wasm/byte-writer.ts';

type Bytes = Uint8Array | readonly number[];

const header = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];

export const sectionId = {
  custom: 0,
  type: 1,
  function: 3,
  table: 4,
  memory: 5,
  global: 6,
  export: 7,
  start: 8,
  code: 10,
} as const;

function written(write: (writer: ByteWriter) => void): Uint8Array {
  const writer = new ByteWriter();
  write(writer);
  return writer.view();
}

export function section(id: number, content: Bytes): Uint8Array {
  return written((writer) => {
    writer.byte(id);
    writer.u32(content.length);
    writer.bytes(content);
  });
}

export function vector(id: number, entries: readonly Bytes[]): Uint8Array {
  const content = written((writer) => {
    writer.u32(entries.length);
    for (const entry of entries) writer.bytes(entry);
  });
  return section(id, content);
}

export function rawModule(...sections: readonly Uint8Array[]): Uint8Array {
  return written((writer) => {
    writer.bytes(header);
    for (const one of sections) writer.bytes(one);
  });
}

export function repeat<T>(count: number, entry: T): T[] {
  return Array.from({ length: count }, () => entry);
}

/**
 * Returns the type `() -> ()`, and functions of it with these instructions, without their `end`.
 */
export function functions(bodies: readonly Bytes[], between: readonly Uint8Array[] = []) {
  const coded = bodies.map((body) =>
    written((writer) => {
      writer.u32(body.length + 2);
      writer.byte(0);
      writer.bytes(body);
      writer.byte(0x0b);
    }),
  );
  return [
    vector(sectionId.type, [[0x60, 0, 0]]),
    vector(sectionId.function, repeat(bodies.length, [0])),
    ...between,
    vector(sectionId.code, coded),
  ];
}

/** Returns exports of function 0. */
export function exportsOf(names: readonly string[]): Uint8Array {
  const entries = names.map((name) =>
    written((writer) => {
      writer.name(name);
      writer.bytes([0, 0]);
    }),
  );
  return vector(sectionId.export, entries);
}

export function custom(name: string, size = 0): Uint8Array {
  const content = written((writer) => {
    writer.name(name);
    writer.bytes(new Uint8Array(size));
  });
  return section(sectionId.custom, content);
}
