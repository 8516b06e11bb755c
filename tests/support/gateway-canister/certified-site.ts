// Certified pages for tests of the gateway: the tree over requests and answers that a canister
// would store, and the headers that prove them. HTTP gateway specification, "Response
// Verification".

import { createHash } from 'node:crypto';
import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import type { HashTree } from '../../../packages/replica/src/state/hash-tree.ts';
import { fromEntries, leaf, toArrays } from '../../../packages/replica/src/state/hash-tree.ts';
import { encodeSelfDescribed } from '../../../packages/replica/src/state/self-described-cbor.ts';

export type Field = readonly [name: string, value: string];

export interface Page {
  /** Labels after `http_expr`; the last is `<$>` or `<*>`. */
  readonly path: readonly string[];
  readonly method?: string;
  /** Request headers that belong to the certified request. */
  readonly requestHeaders?: readonly Field[];
  readonly status?: number;
  /** Response headers; `certifiedHeaders` names the certified ones. */
  readonly headers?: readonly Field[];
  readonly body: Uint8Array;
  /** Whether the page needs no certification: any content is valid. */
  readonly isUncertified?: boolean;
  /** Names of the certified response headers; by default all. */
  readonly certifiedHeaders?: readonly string[];
}

export interface Answer {
  readonly status?: number;
  readonly headers?: readonly Field[];
  readonly body?: Uint8Array;
  readonly upgrade?: boolean;
  /** Token of the first callback, for the method `stream` of the canister. */
  readonly stream?: { readonly canisterId: Principal; readonly token: Token };
}

/** A text, or a record like those of real canisters. */
export type Token = string | { readonly content: Uint8Array; readonly offset: bigint };

const TokenRecord = IDL.Record({ content: IDL.Vec(IDL.Nat8), offset: IDL.Nat64 });

const Fields = IDL.Vec(IDL.Tuple(IDL.Text, IDL.Text));

function typeOf(token: Token | undefined): IDL.Type {
  return token === undefined || typeof token === 'string' ? IDL.Text : TokenRecord;
}

function partType(token: Token | undefined): IDL.Type {
  return IDL.Record({ body: IDL.Vec(IDL.Nat8), token: IDL.Opt(typeOf(token)) });
}

function responseType(token: Token | undefined): IDL.Type {
  const type = typeOf(token);
  const callback = IDL.Func([type], [partType(token)], ['query']);
  const Strategy = IDL.Variant({ Callback: IDL.Record({ callback, token: type }) });
  return IDL.Record({
    status_code: IDL.Nat16,
    headers: Fields,
    body: IDL.Vec(IDL.Nat8),
    upgrade: IDL.Opt(IDL.Bool),
    streaming_strategy: IDL.Opt(Strategy),
  });
}

/** Returns an HttpResponse in Candid. */
export function encodeAnswer(answer: Answer): Uint8Array {
  const { stream } = answer;
  const strategy = (from: NonNullable<typeof stream>) => ({
    Callback: { callback: [from.canisterId, 'stream'], token: from.token },
  });
  return IDL.encode(
    [responseType(stream?.token)],
    [
      {
        status_code: answer.status ?? 200,
        headers: answer.headers ?? [],
        body: answer.body ?? new Uint8Array(0),
        upgrade: answer.upgrade === undefined ? [] : [answer.upgrade],
        streaming_strategy: stream === undefined ? [] : [strategy(stream)],
      },
    ],
  );
}

/** Returns a StreamingCallbackHttpResponse in Candid. */
export function encodePart(body: Uint8Array, token?: Token): Uint8Array {
  return IDL.encode([partType(token)], [{ body, token: token === undefined ? [] : [token] }]);
}

/** Returns the argument of the callback. */
export function encodeToken(token: Token): Uint8Array {
  return IDL.encode([typeOf(token)], [token]);
}

/** Returns the tree over all pages, whose hash the canister certifies. */
export function certifyPages(pages: readonly Page[]): HashTree {
  return toTree(new Map([['http_expr', nest(pages.flatMap(pathsOf))]]));
}

/** Returns the page with its own headers and those that prove it. */
export function provenAnswer(
  page: Page,
  proof: { tree: HashTree; certificate: Uint8Array },
): Answer {
  const exprPath = ['http_expr', ...page.path];
  const tree = encodeSelfDescribed(toArrays(proof.tree));
  const value = [
    `certificate=:${base64(proof.certificate)}:`,
    `tree=:${base64(tree)}:`,
    `expr_path=:${base64(encodeSelfDescribed(exprPath))}:`,
    'version=2',
  ].join(', ');
  const headers = [...certifiedFields(page), ['IC-Certificate', value] as const];
  return { status: page.status ?? 200, headers, body: page.body };
}

type Nested = Map<string, Nested | Uint8Array>;

function pathsOf(page: Page): readonly string[][] {
  const expression = latin1(sha256(expressionOf(page)));
  if (page.isUncertified === true) return [[...page.path, expression]];
  return [[...page.path, expression, latin1(requestHash(page)), latin1(responseHash(page))]];
}

function nest(paths: readonly (readonly string[])[]): Nested {
  const root: Nested = new Map();
  for (const path of paths) {
    let level = root;
    for (const [index, label] of path.entries()) {
      if (index === path.length - 1) level.set(label, new Uint8Array(0));
      const next = level.get(label) ?? new Map();
      level.set(label, next);
      if (next instanceof Map) level = next;
    }
  }
  return root;
}

/** Labels are latin1 texts: hashes, and ASCII in these tests. */
function toTree(nested: Nested): HashTree {
  const entries = [...nested].map(([label, below]) => {
    const child = below instanceof Uint8Array ? leaf(below) : toTree(below);
    return [Buffer.from(label, 'latin1'), child] as const;
  });
  return fromEntries(entries);
}

function expressionOf(page: Page): string {
  if (page.isUncertified === true) {
    return 'default_certification(ValidationArgs{no_certification:Empty{}})';
  }
  const list = (names: readonly string[]) => names.map((name) => `"${name}"`).join(',');
  const requestHeaders = list((page.requestHeaders ?? []).map(([name]) => name));
  const request = `request_certification:RequestCertification{certified_request_headers:[${requestHeaders}],certified_query_parameters:[]}`;
  const response =
    page.certifiedHeaders === undefined
      ? 'response_header_exclusions:ResponseHeaderList{headers:[]}'
      : `certified_response_headers:ResponseHeaderList{headers:[${list(page.certifiedHeaders)}]}`;
  return `default_certification(ValidationArgs{certification:Certification{${request},response_certification:ResponseCertification{${response}}}})`;
}

function certifiedFields(page: Page): readonly Field[] {
  return [...(page.headers ?? []), ['IC-CertificateExpression', expressionOf(page)]];
}

function requestHash(page: Page): Uint8Array {
  const fields = [
    [':ic-cert-method', page.method ?? 'GET'],
    ...(page.requestHeaders ?? []),
  ] as const;
  return sha256(Buffer.concat([hashOfMap(fields), sha256('')]));
}

function responseHash(page: Page): Uint8Array {
  const { certifiedHeaders } = page;
  const fields = certifiedFields(page).filter(
    ([name]) =>
      name === 'IC-CertificateExpression' ||
      certifiedHeaders === undefined ||
      certifiedHeaders.includes(name.toLowerCase()),
  );
  const map = hashOfMap([...fields, [':ic-cert-status', page.status ?? 200]]);
  return sha256(Buffer.concat([map, sha256(page.body)]));
}

/** Returns the representation-independent hash (IC spec); numbers are LEB128 of two bytes. */
function hashOfMap(fields: readonly (readonly [string, string | number])[]): Uint8Array {
  const pairs = fields.map(([name, value]) => {
    const bytes = typeof value === 'number' ? [(value & 0x7f) | 0x80, value >> 7] : value;
    return Buffer.concat([sha256(name.toLowerCase()), sha256(Buffer.from(bytes))]);
  });
  return sha256(Buffer.concat(pairs.sort(Buffer.compare)));
}

function sha256(bytes: Uint8Array | string): Uint8Array {
  return createHash('sha256').update(bytes).digest();
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
