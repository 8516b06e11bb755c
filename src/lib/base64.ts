// Base64 of RFC 4648 §4 and §5 for short values (keys, digests in headers, cursors): interpreted
// code, some 5,000 instructions for each three bytes.

const standard = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

export function encodeBase64(bytes: Uint8Array): string {
  let text = '';
  for (let start = 0; start < bytes.length; start += 3) {
    const second = bytes[start + 1] ?? 0;
    const group = ((bytes[start] ?? 0) << 16) | (second << 8) | (bytes[start + 2] ?? 0);
    text += standard.charAt(group >> 18) + standard.charAt((group >> 12) & 63);
    text += standard.charAt((group >> 6) & 63) + standard.charAt(group & 63);
  }
  const missing = (3 - (bytes.length % 3)) % 3;
  return missing === 0 ? text : text.slice(0, -missing) + '='.repeat(missing);
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
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  const digit = (at: number) => Math.max(0, standard.indexOf(text.charAt(at)));
  let end = 0;
  for (let at = 0; at < text.length; at += 4) {
    const high = (digit(at) << 18) | (digit(at + 1) << 12);
    const group = high | (digit(at + 2) << 6) | digit(at + 3);
    // What comes after the last byte is dropped by the array.
    bytes[end] = group >> 16;
    bytes[end + 1] = group >> 8;
    bytes[end + 2] = group;
    end += 3;
  }
  // The last digit before the padding may have bits that no byte takes.
  const last = encodeBase64(bytes.subarray(Math.max(0, end - 3)));
  return text.endsWith(last) ? bytes : undefined;
}

/** `undefined` when `text` is not what encodeBase64Url() writes. */
export function decodeBase64Url(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) {
    return undefined;
  }
  const padding = '='.repeat((4 - (text.length % 4)) % 4);
  return decodeBase64(text.replace(/-/g, '+').replace(/_/g, '/') + padding);
}
