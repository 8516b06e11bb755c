// The one entry of the certified tree that lets a gateway pass any answer: `no_certification` for
// every path. The tree and the header follow the HTTP gateway specification, "Response
// verification".

import { sha256 } from '../crypto/hash.ts';
import { encodeBase64 } from '../lib/base64.ts';
import { concatBytes, emptyBytes } from '../lib/bytes.ts';
import { encodeUtf8 } from '../lib/text.ts';

const expression = 'default_certification(ValidationArgs{no_certification:Empty{}})';

/** IC spec, "Certificate": a label hash and a leaf hash, each behind its domain separator. */
function labeledHash(label: Uint8Array, subtree: Uint8Array): Uint8Array {
  return sha256(concatBytes(separator('ic-hashtree-labeled'), label, subtree));
}

function separator(name: string): Uint8Array {
  return concatBytes(Uint8Array.of(name.length), encodeUtf8(name));
}

/** 32 bytes for `certified_data`. */
export function skipAllRoot(): Uint8Array {
  const leaf = sha256(concatBytes(separator('ic-hashtree-leaf'), emptyBytes));
  const expressionHash = sha256(encodeUtf8(expression));
  const wildcard = labeledHash(encodeUtf8('<*>'), labeledHash(expressionHash, leaf));
  return labeledHash(encodeUtf8('http_expr'), wildcard);
}

/** CBOR (RFC 8949): self-described, `[2, "http_expr", [2, "<*>", [2, hash, [3, ""]]]]`. */
function witness(): Uint8Array {
  const hash = sha256(encodeUtf8(expression));
  return concatBytes(
    Uint8Array.of(0xd9, 0xd9, 0xf7, 0x83, 2, 0x49),
    encodeUtf8('http_expr'),
    Uint8Array.of(0x83, 2, 0x43),
    encodeUtf8('<*>'),
    Uint8Array.of(0x83, 2, 0x58, 32),
    hash,
    Uint8Array.of(0x82, 3, 0x40),
  );
}

/** CBOR: self-described, `["http_expr", "<*>"]`. */
function expressionPath(): Uint8Array {
  return concatBytes(
    Uint8Array.of(0xd9, 0xd9, 0xf7, 0x82, 0x69),
    encodeUtf8('http_expr'),
    Uint8Array.of(0x63),
    encodeUtf8('<*>'),
  );
}

let constantPart: string | undefined;

/** The two headers that make a gateway accept the answer, for the certificate of this query. */
export function skipAllHeaders(certificate: Uint8Array): [string, string][] {
  constantPart ??= `tree=:${encodeBase64(witness())}:, expr_path=:${encodeBase64(expressionPath())}:, version=2`;
  return [
    ['IC-CertificateExpression', expression],
    ['IC-Certificate', `certificate=:${encodeBase64(certificate)}:, ${constantPart}`],
  ];
}
