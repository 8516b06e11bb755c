// Random files and random rules of `_redirects` on the real Wasm: every address of a small set is
// answered as a slow reference model predicts, by an answer that the official verifier accepts or,
// only if some rule is computed from the path, by an update.

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  decodeAnswer,
  encodeUpdateRequest,
} from '../../packages/replica/src/gateway/candid-messages.ts';
import { whole } from '../support/certification/asked-canister.ts';
import {
  type CertifiedCanister,
  openCertifiedCanister,
} from '../support/certification/certified-canister.ts';
import {
  type ReferenceRule,
  referenceAnswer,
} from '../support/certification/site-rules-reference.ts';
import { seedsOr } from '../support/seed.ts';

let canister: CertifiedCanister;

beforeAll(async () => {
  canister = await openCertifiedCanister();
  await canister.setSite('demo', true);
});

afterAll(() => canister?.stop());

// Files that end in reserved labels have no address without .html
const paths = [
  '<*>.html',
  'a/<*>.html',
  'b/<$>.html',
  'one.html',
  'two.html',
  'a',
  'a/b.html',
  'b/index.html',
  '404.html',
  'index.html',
];
const addresses = ['', '/', '/a', '/a/', '/b', '/b/', '/a/b', '/a/b/', '/a/c', '/b/b', '/c'].concat(
  ['/a/b/c', '/a/b/c/', '/c/b', '/one', '/c/c/c'],
);

const plainFrom = fc.constantFrom('/', '/a', '/b', '/a/b', '/a/c', '/c', '/c/b');
const wildFrom = fc.constantFrom('/*', '/a/*', '/a/b/*', '/b/*', '/c/*');
const namedFrom = fc.constantFrom('/:x', '/a/:x', '/:x/b', '/a/:x/*', '/c/:x');
const fixedTo = fc.constantFrom('/t', 'https://e.example/p?q');
const status = fc.constantFrom(301, 302, 307, 308);
const fileStatus = fc.constantFrom(200, 404, 410);
const file = fc.constantFrom('/one.html', '/two.html', '/none.html');
const rule: fc.Arbitrary<ReferenceRule> = fc.oneof(
  fc.record({ from: fc.oneof(plainFrom, wildFrom, namedFrom), to: fixedTo, status }),
  fc.record({ from: fc.oneof(plainFrom, wildFrom), to: file, status: fileStatus }),
  fc.record({ from: wildFrom, to: fc.constant('https://e.example/:splat'), status }),
  fc.record({ from: namedFrom, to: fc.constant('/t/:x'), status }),
);

const isComputed = ({ from, to }: ReferenceRule) => from.includes(':') || to.includes('/:');

async function answerAt(address: string, mayAsk: boolean): Promise<string> {
  const request = { url: `/cloud/demo${address}` };
  let answer = await canister.ask(request);
  if (answer.isUpgrade && mayAsk) {
    // The key pays, because strangers share a budget
    const headers = [['authorization', `Bearer ${canister.apiKey}`]] as const;
    const argument = encodeUpdateRequest(whole({ ...request, headers }));
    const { network, canisterId } = canister;
    answer = decodeAnswer(await network.call(canisterId, 'http_request_update', argument));
  } else answer = await canister.accepted(request);
  const location = answer.headers.find(([name]) => name === 'Location')?.[1];
  const length = answer.headers.find(([name]) => name === 'Content-Length')?.[1];
  // An update leaves the bytes of a file to a stream
  if (length !== undefined) return `${answer.status} ${'?'.repeat(Number(length))}`;
  const text = Buffer.from(answer.body).toString();
  return `${answer.status} ${location ?? (text.includes('"NoSuchFile"') ? 'NoSuchFile' : text)}`;
}

const step = fc.oneof(
  fc.record({ path: fc.constantFrom(...paths), isKept: fc.boolean() }),
  fc.record({ rules: fc.array(rule, { maxLength: 6 }) }),
);

let files = new Map<string, string>();
let rules: readonly ReferenceRule[] = [];
let count = 0;

test.each(seedsOr(20_261_128))(
  '_redirects answers as the reference model does, at every address, seed %i',
  async (seed) => {
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 8, maxLength: 16 }),
      async (all) => {
        for (const each of all) {
          if ('rules' in each) {
            rules = each.rules;
            const lines = rules.map(({ from, to, status }) => `${from} ${to} ${status}`);
            await canister.put('_redirects', Buffer.from(lines.join('\n')));
          } else if (each.isKept) {
            const text = `text ${count++}`;
            await canister.put(each.path, Buffer.from(text));
            files = new Map(files).set(each.path, text);
          } else if (files.delete(each.path)) await canister.remove(each.path);
          const mayAsk = rules.some(isComputed);
          for (const address of addresses) {
            const expected = referenceAnswer(files, rules, address);
            const words = `${address} of ${[...files.keys()]} with ${JSON.stringify(rules)}`;
            const found = await answerAt(address, mayAsk);
            const isHidden = found.endsWith('?');
            const shown = isHidden ? `200 ${'?'.repeat(expected.length - 4)}` : expected;
            expect(found, words).toBe(shown);
          }
        }
      },
    );
    await fc.assert(property, { numRuns: 12, endOnFailure: true, seed });
  },
  300_000,
);
