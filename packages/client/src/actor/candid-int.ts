// A Candid int whose reading takes constant time.

import { IDL } from '@icp-sdk/core/candid';

type Pipe = Parameters<IDL.IntClass['decodeValue']>[0];

/**
 * Reads an int byte by byte. For each one the library copies the rest of the message twice, so that
 * a page of 1,000 file records copies 430 MB, and stops a page of a browser for most of a second.
 */
class IntClass extends IDL.IntClass {
  override decodeValue(pipe: Pipe, type: IDL.Type): bigint {
    this.checkType(type);
    // Signed LEB128: seven bits a byte, the lowest first; the sign is bit 6 of the last byte.
    let value = 0n;
    let shift = 0n;
    for (;;) {
      const byte = pipe.readUint8();
      if (byte === undefined) throw new Error('A Candid int ends too early.');
      value |= BigInt(byte & 0x7f) << shift;
      shift += 7n;
      if (byte < 0x80) return (byte & 0x40) === 0 ? value : value - (1n << shift);
    }
  }
}

export const Int: IDL.IntClass = new IntClass();
