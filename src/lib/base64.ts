// Base64 of RFC 4648 §4 and §5 for short values (keys, digests in headers): interpreted code.

const standard = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

export function encodeBase64(bytes: Uint8Array): string {
  let text = '';
  for (let start = 0; start < bytes.length; start += 3) {
    const [first = 0, second = 0, third = 0] = bytes.subarray(start, start + 3);
    const group = (first << 16) | (second << 8) | third;
    const used = Math.min(bytes.length - start, 3) + 1;
    for (let position = 0; position < 4; position++) {
      text += position < used ? standard.charAt((group >> (18 - 6 * position)) & 63) : '=';
    }
  }
  return text;
}

/** The URL- and filename-safe alphabet, without padding. */
export function encodeBase64Url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replace(/\+/g, '-').replace(/\//g, '_').replace(/=/g, '');
}

/** `undefined` when `text` is not canonical padded base64. */
export function decodeBase64(text: string): Uint8Array | undefined {
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) {
    return undefined;
  }
  const digits = text.replace(/=/g, '');
  const bytes = new Uint8Array(Math.floor((digits.length * 3) / 4));
  let group = 0;
  let bits = 0;
  let end = 0;
  for (const digit of digits) {
    group = (group << 6) | standard.indexOf(digit);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[end++] = (group >> bits) & 255;
      group &= (1 << bits) - 1;
    }
  }
  return encodeBase64(bytes) === text ? bytes : undefined;
}
