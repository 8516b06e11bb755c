import { createHash } from 'node:crypto';
import { decode } from 'cborg';
import { beforeAll, describe, expect, test } from 'vitest';
import { skipAllHeaders, skipAllRoot } from '../../src/certification/skip-all.ts';
import { installNodeKernel } from '../support/kernel-host.ts';
import { installNodeText } from '../support/memory-stores.ts';

const expression = 'default_certification(ValidationArgs{no_certification:Empty{}})';

function digest(...parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

type Tree =
  | readonly [2, string | Uint8Array, Tree]
  | readonly [3, Uint8Array]
  | readonly [4, Uint8Array];

/** IC spec, "Certificate": reconstruct(), of the node types that occur here. */
function reconstruct(tree: Tree): Buffer {
  switch (tree[0]) {
    case 2:
      return digest('\x13ic-hashtree-labeled', tree[1], reconstruct(tree[2]));
    case 3:
      return digest('\x10ic-hashtree-leaf', tree[1]);
    case 4:
      return Buffer.from(tree[1]);
  }
}

function fieldsOf(header: string): ReadonlyMap<string, Buffer> {
  const fields = [...header.matchAll(/(\w+)=:([^:]*):/g)];
  return new Map(fields.map(([, name = '', text = '']) => [name, Buffer.from(text, 'base64')]));
}

/** Strips the tag of self-described CBOR, which must be there. */
function decodeSelfDescribed(bytes: Buffer | undefined): unknown {
  expect(bytes?.subarray(0, 3).toString('hex')).toBe('d9d9f7');
  return decode(bytes?.subarray(3) ?? new Uint8Array(0));
}

beforeAll(async () => {
  installNodeText();
  await installNodeKernel();
});

describe('skipAllRoot()', () => {
  test('is the root of the tree that answers everything with no certification', () => {
    const leaf: Tree = [3, new Uint8Array(0)];
    const tree: Tree = [2, 'http_expr', [2, '<*>', [2, digest(expression), leaf]]];
    expect(Buffer.from(skipAllRoot())).toEqual(reconstruct(tree));
  });
});

describe('skipAllHeaders()', () => {
  const certificate = Uint8Array.from({ length: 300 }, (_, index) => index % 256);

  test('carry the certificate and a witness whose root is the certified one', () => {
    const [expressionHeader, certificateHeader] = skipAllHeaders(certificate);
    expect(expressionHeader).toEqual(['IC-CertificateExpression', expression]);
    const [name, value = ''] = certificateHeader ?? [];
    expect(name).toBe('IC-Certificate');
    expect(value).toMatch(/, version=2$/);
    const fields = fieldsOf(value);
    expect(fields.get('certificate')).toEqual(Buffer.from(certificate));
    const tree = decodeSelfDescribed(fields.get('tree')) as Tree;
    expect(reconstruct(tree)).toEqual(Buffer.from(skipAllRoot()));
    expect(decodeSelfDescribed(fields.get('expr_path'))).toEqual(['http_expr', '<*>']);
  });
});
