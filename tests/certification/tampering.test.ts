// A node that lies: true answers with something changed, and answers given for another request. The
// official verifier refuses each of them.

import { decode, encode } from 'cborg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CanisterAnswer } from '../../packages/replica/src/gateway/candid-messages.ts';
import {
  type CertifiedCanister,
  openCertifiedCanister,
} from '../support/certification/certified-canister.ts';
import { type AskedRequest, type Field, verdictOn } from '../support/certification/verdict.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import { sampleBytes } from '../support/service.ts';

let canister: CertifiedCanister;
const random = randomNumbers(20_261_121);

interface Exchange {
  readonly request: AskedRequest;
  readonly answer: CanisterAnswer;
}

let exchanges: Exchange[];
/** The exchange of a former version of the file. */
let outdated: Exchange;

async function collect(): Promise<Exchange[]> {
  const tagOf = async (url: string) => {
    const { headers } = await canister.ask({ url });
    return headers.find(([name]) => name === 'ETag')?.[1] ?? expect.fail('no tag');
  };
  const requests: AskedRequest[] = [];
  for (const url of ['/cloud/demo/a', '/cloud/demo/dir/b', '/cloud/demo/large']) {
    const tag = await tagOf(url);
    requests.push({ url }, { method: 'HEAD', url }, { method: 'OPTIONS', url });
    requests.push({ url, headers: [['if-none-match', tag]] });
    requests.push({ method: 'HEAD', url, headers: [['if-none-match', `W/${tag}`]] });
    requests.push({ url, headers: [['Range', 'bytes=0-']] });
  }
  requests.push({ url: '/cloud/demo/large', headers: [['Range', 'bytes=65536-']] });
  requests.push({ url: '/cloud/demo/none' }, { url: '/' }, { method: 'OPTIONS', url: '/' });
  const collected: Exchange[] = [];
  for (const request of requests) {
    collected.push({ request, answer: await canister.accepted(request) });
  }
  return collected;
}

beforeAll(async () => {
  canister = await openCertifiedCanister();
  const plain = { url: '/cloud/demo/a' };
  await canister.put('a', Buffer.from('old'));
  outdated = { request: plain, answer: await canister.accepted(plain) };
  await canister.put('a', Buffer.from('hello'));
  await canister.put('dir/b', Buffer.from('hello world'));
  await canister.putParts('large', [sampleBytes('first', 65_536), sampleBytes('second', 500)]);
  exchanges = await collect();
});

afterAll(() => canister?.replica.stop());

function pick<T>(values: readonly T[]): T {
  return values[random(values.length)] ?? expect.fail('nothing to pick from');
}

function withHeaders(answer: CanisterAnswer, headers: readonly Field[]): CanisterAnswer {
  return { ...answer, headers };
}

function flipped(bytes: Uint8Array, from = 0): Uint8Array {
  const copy = Uint8Array.from(bytes);
  const at = from + random(copy.length - from);
  copy[at] = (copy[at] ?? 0) ^ (1 << random(8));
  return copy;
}

/** The tag of self-described CBOR has no meaning of its own, and decoders pass over it. */
const tagBytes = 3;

/** The head of the outermost map: decoders ignore the count in it and read all entries. */
const headBytes = 1;
/** Makes the head of bytes that of a text, which decoders take for the same. */
const textBit = 0x20;

/** A changed bit that changes what the CBOR says. */
function flippedMeaning(bytes: Uint8Array): Uint8Array {
  const changed = flipped(bytes, tagBytes + headBytes);
  const at = changed.findIndex((byte, index) => byte !== bytes[index]);
  const isTextBit = ((changed[at] ?? 0) ^ (bytes[at] ?? 0)) === textBit;
  const isSame = isTextBit || meaningOf(changed) === meaningOf(bytes);
  return isSame ? flippedMeaning(bytes) : changed;
}

function meaningOf(bytes: Uint8Array): string {
  const plain = (_: string, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value;
  try {
    const text = JSON.stringify(decode(bytes.subarray(tagBytes), { useMaps: false }), plain);
    return Buffer.from(text, 'latin1').toString('hex');
  } catch {
    return 'no CBOR';
  }
}

/** Changes one of the fields of the IC-Certificate header. */
function withProof(
  answer: CanisterAnswer,
  field: 'certificate' | 'tree' | 'expr_path',
  change: (bytes: Uint8Array) => Uint8Array,
): CanisterAnswer {
  const pattern = new RegExp(`${field}=:([^:]*):`);
  const headers = answer.headers.map(([name, value]): Field => {
    if (name !== 'IC-Certificate') return [name, value];
    const bytes = Buffer.from(pattern.exec(value)?.[1] ?? '', 'base64');
    const changed = Buffer.from(change(bytes)).toString('base64');
    return [name, value.replace(pattern, `${field}=:${changed}:`)];
  });
  return withHeaders(answer, headers);
}

const certified = ({ headers }: CanisterAnswer) =>
  headers.filter(([name]) => name !== 'IC-Certificate');

type Tree = [number, ...unknown[]];

/** Leaves out what a fork shows on one side, or the whole subtree under a label. */
function pruneSomewhere(bytes: Uint8Array): Uint8Array {
  const tree = decode(bytes.subarray(tagBytes)) as Tree;
  const places: Tree[] = [];
  const walk = (node: Tree) => {
    if (node[0] === 3) places.push(node);
    for (const child of node.slice(1)) if (Array.isArray(child)) walk(child as Tree);
  };
  walk(tree);
  const leaf = pick(places);
  // The hash of an empty leaf would be right; any other is not, and neither is a leaf that is hidden.
  leaf.splice(0, leaf.length, 4, new Uint8Array(32).fill(random(256)));
  return Buffer.concat([bytes.subarray(0, tagBytes), encode(tree)]);
}

type Lie = (exchange: Exchange) => Exchange | undefined;

const lies: Record<string, Lie> = {
  body: ({ request, answer }) =>
    answer.body.length === 0
      ? undefined
      : { request, answer: { ...answer, body: flipped(answer.body) } },
  'longer body': ({ request, answer }) => {
    return {
      request,
      answer: { ...answer, body: Buffer.concat([answer.body, flipped(Buffer.alloc(1))]) },
    };
  },
  'shorter body': ({ request, answer }) =>
    answer.body.length === 0
      ? undefined
      : { request, answer: { ...answer, body: answer.body.slice(0, random(answer.body.length)) } },
  status: ({ request, answer }) => {
    const status = pick(
      [200, 204, 206, 301, 304, 404, 500].filter((each) => each !== answer.status),
    );
    return { request, answer: { ...answer, status } };
  },
  'header value': ({ request, answer }) => {
    const changed = pick(certified(answer));
    const [name, value] = changed;
    const at = random(value.length);
    const other = `${value.slice(0, at)}${value[at] === 'x' ? 'y' : 'x'}${value.slice(at + 1)}`;
    const headers = answer.headers.map(
      (field): Field => (field === changed ? [name, other] : field),
    );
    return { request, answer: withHeaders(answer, headers) };
  },
  'header left out': ({ request, answer }) => {
    const gone = pick(certified(answer));
    return {
      request,
      answer: withHeaders(
        answer,
        answer.headers.filter((field) => field !== gone),
      ),
    };
  },
  'header added': ({ request, answer }) => {
    const added: Field = pick([
      ['X-More', '1'],
      ['Set-Cookie', 'a=b'],
      ['Location', 'https://example.com/'],
    ]);
    return { request, answer: withHeaders(answer, [...answer.headers, added]) };
  },
  certificate: ({ request, answer }) => {
    return {
      request,
      answer: withProof(answer, 'certificate', flippedMeaning),
    };
  },
  tree: ({ request, answer }) => {
    return { request, answer: withProof(answer, 'tree', flippedMeaning) };
  },
  'pruned tree': ({ request, answer }) => ({
    request,
    answer: withProof(answer, 'tree', pruneSomewhere),
  }),
  'expression path': ({ request, answer }) => {
    return { request, answer: withProof(answer, 'expr_path', flippedMeaning) };
  },
  'another answer': ({ request }) => {
    const other = pick(exchanges);
    return isRight(request, other.request) ? undefined : { request, answer: other.answer };
  },
  'the proof of another answer': ({ request, answer }) => {
    const other = pick(exchanges);
    if (other.answer === answer || isFixed(request) === isFixed(other.request)) return undefined;
    const proof = other.answer.headers.filter(([name]) => name === 'IC-Certificate');
    return { request, answer: withHeaders(answer, [...certified(answer), ...proof]) };
  },
  'another expression': ({ request, answer }) => {
    const name = 'IC-CertificateExpression';
    const own = answer.headers.find(([each]) => each === name)?.[1];
    const others = exchanges.flatMap(({ answer: { headers } }) =>
      headers.filter(([each, value]) => each === name && value !== own),
    );
    const headers = [...answer.headers.filter(([each]) => each !== name), pick(others)];
    return { request, answer: withHeaders(answer, headers) };
  },
  'an answer of another time': ({ answer }) => {
    const now = answer.headers.find(([name]) => name === 'IC-Certificate')?.[1] ?? '';
    const certificate = Buffer.from(/certificate=:([^:]*):/.exec(now)?.[1] ?? '', 'base64');
    const { request, answer: old } = outdated;
    return { request, answer: withProof(old, 'certificate', () => certificate) };
  },
};

const nowhere = ['/', '/cloud/demo/none'];
const isFixed = ({ url, method }: AskedRequest) => method !== 'OPTIONS' && nowhere.includes(url);

/** An answer for one of the requests is right for the other: it looks at nothing that differs. */
function isRight(request: AskedRequest, answered: AskedRequest): boolean {
  if (isFixed(answered)) return request.url === answered.url;
  const methodOf = ({ method = 'GET' }: AskedRequest) => method;
  const isSame = request.url === answered.url && methodOf(request) === methodOf(answered);
  return request === answered || (isSame && answered.headers === undefined);
}

test('every answer is accepted as it is', () => {
  expect(exchanges.length).toBeGreaterThan(20);
  for (const { request, answer } of [...exchanges]) {
    expect(verdictOn(request, answer, canister.context()).refusal).toBeUndefined();
  }
});

test('1,000 changed and exchanged answers are refused', () => {
  const kinds = Object.keys(lies);
  const counts = new Map<string, number>();
  for (let told = 0, turn = 0; told < 1_000; turn++) {
    const kind = kinds[turn % kinds.length] ?? '';
    const lie = lies[kind]?.(pick(exchanges));
    if (lie === undefined) continue;
    const { refusal } = verdictOn(lie.request, lie.answer, canister.context());
    const { method = 'GET', url, headers } = lie.request;
    expect(refusal, `${kind}, ${method} ${url} ${JSON.stringify(headers)}`).toBeDefined();
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    told += 1;
  }
  expect([...counts.keys()].sort()).toEqual(kinds.sort());
});
