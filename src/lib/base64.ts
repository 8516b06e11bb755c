// Base64 of RFC 4648 §4 and §5 for short values (keys, digests in headers, cursors): interpreted
// code, about 5,000 instructions for every three bytes.

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

/** Uses the URL- and filename-safe alphabet, without padding. */
export function encodeBase64Url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Values of the digits by character code; 0 for all other characters. */
const digitValues = new Uint8Array(128);
for (let value = 0; value < standard.length; value++) {
  digitValues[standard.charCodeAt(value)] = value;
}

/** Returns `undefined` if `text` is not canonical padded base64. */
export function decodeBase64(text: string): Uint8Array | undefined {
  // Sticky: otherwise QuickJS retries at each character.
  if (text.length % 4 !== 0 || !/[A-Za-z0-9+/]*={0,2}$/y.test(text)) {
    return undefined;
  }
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  const values = digitValues;
  const { length } = text;
  let end = 0;
  for (let at = 0; at < length; at += 4) {
    const first = values[text.charCodeAt(at)] ?? 0;
    const second = values[text.charCodeAt(at + 1)] ?? 0;
    const third = values[text.charCodeAt(at + 2)] ?? 0;
    const fourth = values[text.charCodeAt(at + 3)] ?? 0;
    // The typed array ignores writes beyond its end.
    bytes[end] = (first << 2) | (second >> 4);
    bytes[end + 1] = (second << 4) | (third >> 2);
    bytes[end + 2] = (third << 6) | fourth;
    end += 3;
  }
  // The last digit before the padding may have bits that belong to no byte.
  const last = encodeBase64(bytes.subarray(Math.max(0, end - 3)));
  return text.endsWith(last) ? bytes : undefined;
}

/** Returns `undefined` if `text` is not in the form of encodeBase64Url(). */
export function decodeBase64Url(text: string): Uint8Array | undefined {
  if (text.includes('+') || text.includes('/') || text.includes('=')) {
    return undefined;
  }
  const padding = '='.repeat((4 - (text.length % 4)) % 4);
  return decodeBase64(text.replaceAll('-', '+').replaceAll('_', '/') + padding);
}
