// Writes a request as JSON (RFC 8259) into the pages for requests, which have space for all texts
// twice with every byte escaped, and for the characters between them.

import { hexDigit } from './hex';
import { requestBase, requestTextAt } from './heap';

let out: usize = 0;

export function startJson(): void {
  out = jsonAt();
}

export function jsonAt(): usize {
  return requestBase() + requestTextAt;
}

export function jsonBytes(): usize {
  return out - jsonAt();
}

export function writeByte(byte: u8): void {
  store<u8>(out, byte);
  out++;
}

/** Writes a key of at most eight characters. */
export function writeName(name: u64, length: usize): void {
  if (load<u8>(out - 1) != 0x7b) writeByte(0x2c);
  writeByte(0x22);
  store<u64>(out, name);
  out += length;
  store<u16>(out, 0x3a22); // ":
  out += 2;
}

/** `isLower`: converts ASCII capitals to lower case. */
export function writeText(text: usize, length: usize, isLower: bool): void {
  writeByte(0x22);
  for (let p = text; p < text + length; p++) {
    const byte = isLower ? lower(load<u8>(p)) : load<u8>(p);
    if (byte == 0x22 || byte == 0x5c) writeByte(0x5c);
    if (byte < 0x20) writeEscaped(byte);
    else writeByte(byte);
  }
  writeByte(0x22);
}

/** \u00XX */
function writeEscaped(byte: u8): void {
  store<u32>(out, 0x3030755c);
  store<u8>(out, 0x30 + (byte >> 4), 4);
  const low = byte & 0x0f;
  store<u8>(out, hexDigit(low), 5);
  out += 6;
}

// @ts-ignore: decorator
@inline
export function lower(byte: u8): u8 {
  return byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
}
