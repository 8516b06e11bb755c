// UTF-8 (RFC 3629): whether bytes are well-formed.

const highBits: u64 = 0x8080808080808080;

export function isUtf8(p: usize, length: usize): bool {
  const end = p + length;
  while (p < end) {
    if (end - p >= 8 && (load<u64>(p) & highBits) == 0) p += 8;
    else if (load<u8>(p) < 0x80) p++;
    else {
      const bytes = sequenceBytes(p, end);
      if (bytes == 0) return false;
      p += bytes;
    }
  }
  return true;
}

/** Returns the length, 2 to 4, of the sequence at the address; 0 if malformed (RFC 3629, 4). */
function sequenceBytes(p: usize, end: usize): usize {
  const first = load<u8>(p);
  if (first < 0xc2 || first > 0xf4) return 0;
  const bytes: usize = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (end - p < bytes) return 0;
  // The second byte excludes overlong forms, surrogates and values above U+10FFFF
  const second = load<u8>(p, 1);
  const least: u8 = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const greatest: u8 = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (second < least || second > greatest) return 0;
  for (let i: usize = 2; i < bytes; i++) {
    if ((load<u8>(p + i) & 0xc0) != 0x80) return 0;
  }
  return bytes;
}
