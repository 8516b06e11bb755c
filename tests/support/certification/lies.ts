// Forged answers of one node: true answers with a change, and answers to another request.

import { decode, encode } from 'cborg';
import { expect } from 'vitest';
import type { CanisterAnswer } from '../../../packages/replica/src/gateway/candid-messages.ts';
import { expressions } from '../../../src/certification/expressions.ts';
import { randomNumbers } from '../random-numbers.ts';
import { type AskedRequest, type Field, type Verifying, verdictOn } from './verdict.ts';

export interface Exchange {
  readonly request: AskedRequest;
  readonly answer: CanisterAnswer;
  /** The request to which the answer belongs, if another one. */
  readonly from?: AskedRequest;
}

export interface Truth {
  /** Requests with their true answers. */
  readonly exchanges: readonly Exchange[];
  /** A former answer, to a request whose answer has changed since. */
  readonly outdated: Exchange;
  /** Whether the answer to one request is also right for the other. */
  isRight(request: AskedRequest, answered: AskedRequest): boolean;
  /** Whether the answer does not depend on the request. */
  isFixed(request: AskedRequest): boolean;
}

type Random = (limit: number) => number;
/** Returns a forgery, or `undefined` if it would be a right answer. */
type Lie = (exchange: Exchange) => Exchange | undefined;
type Lies = Readonly<Record<string, Lie>>;

/** The tag of self-described CBOR has no meaning of its own, and decoders skip it. */
const tagBytes = 3;
/** The head of the outermost map: decoders ignore its count and read all entries. */
const headBytes = 1;
/** Turns the head of a byte string into the head of a text, which decoders treat the same. */
const textBit = 0x20;
/** Marks a compressed point as infinity; the verifier ignores it and reads the same point. */
const infinityBit = 0x40;

type Tree = [number, ...unknown[]];
type ProofField = 'certificate' | 'tree' | 'expr_path';

const expressionName = 'IC-CertificateExpression';
const proofName = 'IC-Certificate';

function withHeaders(answer: CanisterAnswer, headers: readonly Field[]): CanisterAnswer {
  return { ...answer, headers };
}

function certified({ headers }: CanisterAnswer): readonly Field[] {
  return headers.filter(([name]) => name !== proofName);
}

/** Changes one of the fields of the IC-Certificate header. */
function withProof(
  answer: CanisterAnswer,
  field: ProofField,
  change: (bytes: Uint8Array) => Uint8Array,
): CanisterAnswer {
  const pattern = new RegExp(`${field}=:([^:]*):`);
  const headers = answer.headers.map(([name, value]): Field => {
    if (name !== proofName) return [name, value];
    const bytes = Buffer.from(pattern.exec(value)?.[1] ?? '', 'base64');
    const changed = Buffer.from(change(bytes)).toString('base64');
    return [name, value.replace(pattern, `${field}=:${changed}:`)];
  });
  return withHeaders(answer, headers);
}

function proofField(answer: CanisterAnswer, field: ProofField): Uint8Array {
  const [, proof = ''] = answer.headers.find(([name]) => name === proofName) ?? [];
  return Buffer.from(new RegExp(`${field}=:([^:]*):`).exec(proof)?.[1] ?? '', 'base64');
}

function meaningOf(bytes: Uint8Array): string {
  const plain = (name: string, value: unknown) => {
    if (!(value instanceof Uint8Array)) return value;
    const shown = Buffer.from(value);
    if (name === 'signature') shown[0] = (shown[0] ?? 0) & ~infinityBit;
    return shown.toString('latin1');
  };
  try {
    const text = JSON.stringify(decode(bytes.subarray(tagBytes), { useMaps: false }), plain);
    return Buffer.from(text, 'latin1').toString('hex');
  } catch {
    return 'no CBOR';
  }
}

function chance(random: Random) {
  function pick<T>(values: readonly T[]): T {
    return values[random(values.length)] ?? expect.fail('nothing to pick from');
  }
  function flipped(bytes: Uint8Array, from = 0): Uint8Array {
    const copy = Uint8Array.from(bytes);
    const at = from + random(copy.length - from);
    copy[at] = (copy[at] ?? 0) ^ (1 << random(8));
    return copy;
  }
  /** Flips a bit that changes the meaning of the CBOR. */
  function flippedMeaning(bytes: Uint8Array): Uint8Array {
    const changed = flipped(bytes, tagBytes + headBytes);
    const at = changed.findIndex((byte, index) => byte !== bytes[index]);
    const isTextBit = ((changed[at] ?? 0) ^ (bytes[at] ?? 0)) === textBit;
    const isSame = isTextBit || meaningOf(changed) === meaningOf(bytes);
    return isSame ? flippedMeaning(bytes) : changed;
  }
  /** Replaces a leaf of the tree by a hash that is not its own. */
  function pruneSomewhere(bytes: Uint8Array): Uint8Array {
    const tree = decode(bytes.subarray(tagBytes)) as Tree;
    const leaves: Tree[] = [];
    const walk = (node: Tree) => {
      if (node[0] === 3) leaves.push(node);
      for (const child of node.slice(1)) if (Array.isArray(child)) walk(child as Tree);
    };
    walk(tree);
    const leaf = pick(leaves);
    leaf.splice(0, leaf.length, 4, new Uint8Array(32).fill(random(256)));
    return Buffer.concat([bytes.subarray(0, tagBytes), encode(tree)]);
  }
  return { random, pick, flipped, flippedMeaning, pruneSomewhere };
}

type Chance = ReturnType<typeof chance>;

/** Changes the content, the status or the header fields of a true answer. */
function changedContents({ random, pick, flipped }: Chance): Lies {
  return {
    body: ({ request, answer }) =>
      answer.body.length === 0
        ? undefined
        : { request, answer: { ...answer, body: flipped(answer.body) } },
    'longer body': ({ request, answer }) => {
      const body = Buffer.concat([answer.body, flipped(Buffer.alloc(1))]);
      return { request, answer: { ...answer, body } };
    },
    'shorter body': ({ request, answer }) => {
      if (answer.body.length === 0) return undefined;
      const body = answer.body.slice(0, random(answer.body.length));
      return { request, answer: { ...answer, body } };
    },
    status: ({ request, answer }) => {
      const others = [200, 204, 206, 301, 304, 404, 500].filter((each) => each !== answer.status);
      return { request, answer: { ...answer, status: pick(others) } };
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
      const headers = answer.headers.filter((field) => field !== gone);
      return { request, answer: withHeaders(answer, headers) };
    },
    'header added': ({ request, answer }) => {
      const added: Field = pick([
        ['X-More', '1'],
        ['Set-Cookie', 'a=b'],
        ['Location', 'https://example.com/'],
        ['Service-Worker-Allowed', '/'],
      ]);
      return { request, answer: withHeaders(answer, [...answer.headers, added]) };
    },
  };
}

/**
 * Combines a true answer with another proof, or uses an answer to another request or from an
 * earlier time.
 */
function changedProofs(draw: Chance, truth: Truth): Lies {
  const { pick, flippedMeaning, pruneSomewhere } = draw;
  const { exchanges, outdated, isRight, isFixed } = truth;
  const changed = (field: ProofField, change: (bytes: Uint8Array) => Uint8Array): Lie => {
    return ({ request, answer }) => ({ request, answer: withProof(answer, field, change) });
  };
  return {
    certificate: changed('certificate', flippedMeaning),
    tree: changed('tree', flippedMeaning),
    'pruned tree': changed('tree', pruneSomewhere),
    'expression path': changed('expr_path', flippedMeaning),
    'another answer': ({ request }) => {
      const other = pick(exchanges);
      if (isRight(request, other.request)) return undefined;
      return { request, answer: other.answer, from: other.request };
    },
    'the proof of another answer': ({ request, answer }) => {
      const other = pick(exchanges);
      const isSame = isRight(request, other.request) || isRight(other.request, request);
      if (isSame || isFixed(request) === isFixed(other.request)) return undefined;
      const proof = other.answer.headers.filter(([name]) => name === proofName);
      return { request, answer: withHeaders(answer, [...certified(answer), ...proof]) };
    },
    'another expression': ({ request, answer }) => {
      const own = answer.headers.find(([each]) => each === expressionName)?.[1];
      const others = Object.values(expressions).filter((value) => value !== own);
      const kept = answer.headers.filter(([each]) => each !== expressionName);
      return { request, answer: withHeaders(answer, [...kept, [expressionName, pick(others)]]) };
    },
    'an answer of another time': ({ answer }) => {
      const { request, answer: old } = outdated;
      const now = proofField(answer, 'certificate');
      return { request, answer: withProof(old, 'certificate', () => now) };
    },
  };
}

/** Forges a page that claims that its path needs no certification. */
function ownPages({ pick }: Chance): Lies {
  return {
    'a page of its own': ({ request, answer }) => {
      const headers: Field[] = [
        ['Content-Type', pick(['text/html', 'text/javascript', 'application/json'])],
        [expressionName, expressions.none],
        ...answer.headers.filter(([name]) => name === proofName),
      ];
      const body = Buffer.from('<script>document.title = "taken"</script>');
      const path = encode([
        'http_expr',
        ...request.url.split('/').slice(1, 1 + pick([0, 1, 2])),
        '<*>',
      ]);
      const shown = withProof({ ...answer, status: 200, headers, body }, 'expr_path', (old) =>
        Buffer.concat([old.subarray(0, tagBytes), path]),
      );
      return { request, answer: shown };
    },
  };
}

/** Sends `count` forgeries; fails at the first that the official verifier accepts. */
export function expectRefusals(
  truth: Truth,
  { seed, count, context }: { readonly seed: number; readonly count: number; context(): Verifying },
): void {
  const draw = chance(randomNumbers(seed));
  const lies: Lies = { ...changedContents(draw), ...changedProofs(draw, truth), ...ownPages(draw) };
  const kinds = Object.keys(lies);
  const told = new Map<string, number>();
  let sum = 0;
  for (let turn = 0; sum < count; turn++) {
    const kind = kinds[turn % kinds.length] ?? '';
    const lie = lies[kind]?.(draw.pick(truth.exchanges));
    if (lie === undefined) continue;
    const { refusal } = verdictOn(lie.request, lie.answer, context());
    const asked = `seed ${seed}: ${kind}, ${JSON.stringify([lie.request, lie.from])}`;
    expect(refusal, asked).toBeDefined();
    told.set(kind, (told.get(kind) ?? 0) + 1);
    sum += 1;
  }
  expect([...told.keys()].sort()).toEqual(kinds.sort());
}
