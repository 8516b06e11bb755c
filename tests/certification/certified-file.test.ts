// Leaves of a file and of the fixed answers, each checked by the official verifier in a separate
// tree.

import { createHash } from 'node:crypto';
import { decode, encode } from 'cborg';
import { beforeAll, describe, expect, test } from 'vitest';
import { fromArrays, labeled, lookup, pruned } from '../../packages/replica/src/state/hash-tree.ts';
import { encodeSelfDescribed } from '../../packages/replica/src/state/self-described-cbor.ts';
import { certificateHeader } from '../../src/certification/certificate-header.ts';
import {
  type CertifiedFile,
  type OwnRow,
  rowExpression,
  rowHeaders,
  rowStatus,
} from '../../src/certification/certified-file.ts';
import { expressionHash, expressions } from '../../src/certification/expressions.ts';
import { openFileLeaves } from '../../src/certification/file-leaves.ts';
import { makeFixedTrees } from '../../src/certification/fixed-answers.ts';
import { cborOf } from '../../src/certification/hash-tree.ts';
import {
  type AskedRequest,
  certificateFor,
  type Field,
  testContext,
  verdictOn,
} from '../support/certification/verdict.ts';
import { installNodeKernel } from '../support/kernel-host.ts';
import { installNodeText } from '../support/memory-stores.ts';

beforeAll(async () => {
  installNodeText();
  await installNodeKernel();
});

const body = Buffer.from('hello world');
const none = new Uint8Array(0);
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();

const file: CertifiedFile = {
  etag: '"abc"',
  validators: [
    ['ETag', '"abc"'],
    ['Last-Modified', 'Fri, 02 Jan 2026 03:04:05 GMT'],
    ['Cache-Control', 'public, max-age=3600'],
  ],
  headers: [
    ['Content-Type', 'text/plain; charset=utf-8'],
    ['Content-Disposition', 'inline; filename="été"'],
    ['Accept-Ranges', 'bytes'],
  ],
  size: body.length,
  partSize: body.length,
  partCount: 1,
  isJoined: true,
  partDigest: () => sha256(body),
};

interface Shown {
  readonly hash: Uint8Array;
  readonly cbor: Uint8Array;
}

/** Returns the certificate header of a tree that has only this subtree at the path. */
function proof(shown: Shown, path: readonly string[]): Field {
  const labels = ['http_expr', ...path];
  const root = labels.reduceRight((below, label) => labeled(label, below), pruned(shown.hash));
  const witness = labels.reduceRight<unknown>(
    (below, label) => [2, Buffer.from(label), below],
    decode(shown.cbor),
  );
  const header = certificateHeader({
    certificate: certificateFor(root.hash),
    witness: encodeSelfDescribed(witness as never),
    path: labels.join('\0'),
  });
  return ['IC-Certificate', Buffer.from(header).toString()];
}

const nothing = { status: 204, headers: [], bodyDigest: sha256(none) };
const leaves = openFileLeaves(() => {
  return makeFixedTrees({ notFound: nothing, preflight: nothing, formerPreflight: nothing })
    .fileLeaves;
});

/** Returns the file's tree that shows the row; for several parts, only the row's stored levels. */
function shownTree(of: CertifiedFile, row: OwnRow): Uint8Array {
  if (of.partCount <= 1) return leaves.tree(of, row);
  const { label, subtree } = leaves.row(of, row);
  const expression = Buffer.from(expressionHash(rowExpression(of, row)));
  return encode([2, expression, [2, Buffer.from(label), decode(subtree)]]);
}

function answerOf(of: CertifiedFile, row: OwnRow, bytes: Uint8Array, path = ['a', '<$>']) {
  const cbor = shownTree(of, row);
  const { hash } = fromArrays(decode(cbor));
  return {
    status: rowStatus(of, row),
    headers: [...rowHeaders(of, row), proof({ hash, cbor }, path)],
    body: bytes,
  };
}

const plain = (method: 'GET' | 'HEAD'): OwnRow => ({ row: 'plain', method });
const notModified = (method: 'GET' | 'HEAD', tag: string): OwnRow => {
  return { row: 'not-modified', method, tag };
};
const rows: readonly [string, OwnRow, Uint8Array, Omit<AskedRequest, 'url'>][] = [
  ['GET', plain('GET'), body, { headers: [['accept', '*/*']] }],
  ['HEAD', plain('HEAD'), none, { method: 'HEAD' }],
  ['GET of its tag', notModified('GET', '"abc"'), none, { headers: [['If-None-Match', '"abc"']] }],
  [
    'HEAD of its weak tag',
    notModified('HEAD', 'W/"abc"'),
    none,
    { method: 'HEAD', headers: [['if-none-match', 'W/"abc"']] },
  ],
  ['GET of bytes=0-', { row: 'part', index: 0 }, body, { headers: [['range', 'bytes=0-']] }],
];

describe('CertifiedFile: a leaf of a file', () => {
  test.each(rows)('proves only the answer to %s', (_, row, bytes) => {
    const answer = answerOf(file, row, bytes);
    for (const [, otherRow, , otherRequest] of rows) {
      const { refusal } = verdictOn({ ...otherRequest, url: '/a' }, answer, testContext);
      // A plain answer is right for requests that differ only in uncertified headers.
      const isRight =
        otherRow === row || (row.row === 'plain' && (otherRequest.method ?? 'GET') === row.method);
      expect(refusal === undefined, `${JSON.stringify(otherRow)}: ${refusal}`).toBe(isRight);
    }
  });

  test('does not prove a changed answer', () => {
    const answer = answerOf(file, plain('GET'), body);
    const changes = [
      { body: Buffer.from('hello World') },
      { status: 203 },
      { headers: answer.headers.slice(1) },
      { headers: [...answer.headers, ['X-More', '1'] as const] },
    ];
    for (const change of changes) {
      expect(verdictOn({ url: '/a' }, { ...answer, ...change }, testContext).refusal).toBeDefined();
    }
    expect(verdictOn({ url: '/b' }, answer, testContext).refusal).toBeDefined();
    const withBody = { url: '/a', body: Buffer.from('x') };
    expect(verdictOn(withBody, answer, testContext).refusal).toBeDefined();
    expect(verdictOn({ url: '/a' }, answer, testContext)).toEqual({
      headers: expect.arrayContaining([expect.arrayContaining(['etag', '"abc"'])]),
    });
  });

  test('of several parts proves each part by its range, and the first one without a range', () => {
    const parts = [Buffer.from('hello '), Buffer.from('world')];
    const parted: CertifiedFile = {
      ...file,
      partSize: 6,
      partCount: 2,
      partDigest: (index) => sha256(parts[index] ?? none),
    };
    for (const [index, part] of parts.entries()) {
      const answer = answerOf(parted, { row: 'part', index }, part);
      expect([answer.status, new Map(answer.headers).get('Content-Range')]).toEqual([
        206,
        ['bytes 0-5/11', 'bytes 6-10/11'][index],
      ]);
      const asked = { url: '/a', headers: [['range', `bytes=${6 * index}-`]] as const };
      expect(verdictOn(asked, answer, testContext).refusal).toBeUndefined();
      expect(verdictOn({ url: '/a' }, answer, testContext).refusal).toBeDefined();
    }
    const whole = answerOf(parted, plain('GET'), parts[0] ?? none);
    expect(whole.status).toBe(206);
    expect(verdictOn({ url: '/a' }, whole, testContext).refusal).toBeUndefined();
  });

  test('is in a tree of the same hash, whichever leaf is shown', () => {
    for (const partCount of [0, 1]) {
      const of = { ...file, partCount, size: partCount * file.size };
      const hash = Buffer.from(leaves.hash(of));
      for (const [, row] of rows.slice(0, partCount === 0 ? 4 : 5)) {
        expect(fromArrays(decode(leaves.tree(of, row))).hash).toEqual(hash);
      }
      const preflight = fromArrays(decode(leaves.tree(of, { row: 'preflight' })));
      expect(preflight.hash).toEqual(hash);
    }
  });

  test('is the same if it is stored separately', () => {
    for (const [, row] of rows) {
      const { label, subtree } = leaves.row(file, row);
      const tree = fromArrays(decode(leaves.tree(file, row)));
      const found = lookup(tree, [expressionHash(rowExpression(file, row)), label]);
      const { hash } = fromArrays(decode(subtree));
      expect(found).toMatchObject({ status: 'found', subtree: { hash } });
    }
  });

  test('with another tag, or of a missing part, is refused', () => {
    expect(() => leaves.tree(file, notModified('GET', '"other"'))).toThrow('tag of the file');
    const parts = { ...file, partCount: 2, partSize: 6 };
    expect(() => leaves.tree(parts, plain('GET'))).toThrow('unreachable');
    expect(() => leaves.row(parts, { row: 'part', index: 2 })).toThrow('unreachable');
    const empty = { ...file, partCount: 0, size: 0 };
    expect(() => leaves.tree(empty, { row: 'part', index: 0 })).toThrow('unreachable');
  });

  test('is refused for a header with NUL and for more than 32 headers', () => {
    const withNul: CertifiedFile = { ...file, headers: [['Content-Type', 'a\0b']] };
    expect(() => leaves.hash(withNul)).toThrow('unreachable');
    const many = Array.from({ length: 30 }, (_, at) => [`X-${at}`, ''] as const);
    expect(() => leaves.hash({ ...file, headers: many })).toThrow('few headers');
  });

  test('is found below any valid path', () => {
    const long = 'x'.repeat(300);
    for (const segment of [
      'a',
      'x'.repeat(23),
      'x'.repeat(24),
      'x'.repeat(128),
      long,
      'é',
      '😀"',
    ]) {
      const answer = answerOf(file, plain('GET'), body, [segment, 'b', '<$>']);
      const url = `/${encodeURIComponent(segment)}/b`;
      expect(verdictOn({ url }, answer, testContext).refusal, segment).toBeUndefined();
    }
    const deep = Array.from({ length: 300 }, (_, index) => `${index}`);
    const answer = answerOf(file, plain('GET'), body, [...deep, '<$>']);
    const url = `/${deep.join('/')}`;
    expect(verdictOn({ url }, answer, testContext).refusal).toBeUndefined();
  });
});

describe('CertifiedFile: the subtree of the outermost wildcard', () => {
  const notFoundBody = Buffer.from('{"error":1}');
  const notFound = {
    status: 404,
    headers: [['Content-Type', 'application/json']] as const,
    bodyDigest: sha256(notFoundBody),
  };
  const preflight = { status: 204, headers: [['Allow', 'GET']] as const, bodyDigest: sha256(none) };

  test('proves 404 to any request, and the preflight answer only to OPTIONS', () => {
    const trees = makeFixedTrees({ notFound, preflight, formerPreflight: preflight });
    const shown = (row: 'not-found' | 'preflight', expression: string, answer: typeof notFound) => {
      const tree = trees.outermost(row);
      expect(tree.hash).toEqual(trees.outermost('not-found').hash);
      const header = proof({ hash: tree.hash, cbor: cborOf(tree) }, ['<*>']);
      const own: Field = ['IC-CertificateExpression', expression];
      return { status: answer.status, headers: [...answer.headers, own, header] };
    };
    const missing = {
      ...shown('not-found', expressions.anyRequest, notFound),
      body: notFoundBody,
    };
    const allowed = {
      ...shown('preflight', expressions.plain, preflight as unknown as typeof notFound),
      body: none,
    };
    for (const url of ['/', '/a/b', '/a/', '/%3C*%3E', '/%3C%24%3E', '/x?y=z']) {
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const asked = { method, url };
        expect(verdictOn(asked, missing, testContext).refusal, url).toBeUndefined();
        const isRight = method === 'OPTIONS';
        expect(verdictOn(asked, allowed, testContext).refusal === undefined).toBe(isRight);
      }
    }
    expect(verdictOn({ url: '/' }, { ...missing, body: none }, testContext).refusal).toBeDefined();
  });
});
