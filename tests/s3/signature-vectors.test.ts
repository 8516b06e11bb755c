import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { signatureOf, signingKey } from '../../packages/s3/src/signature/canonical-request.ts';
import type { SignedRequest } from '../../packages/s3/src/signature/signed-request.ts';
import { authenticate } from '../../packages/s3/src/signature/verify.ts';
import {
  documented,
  exampleCredentials,
  exampleKey,
  exampleTime,
  presigned,
} from './support/signed-requests.ts';

interface Form {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly payloadHash: string;
  readonly signature: string;
}

interface Suite {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly time: string;
  readonly region: string;
  readonly service: string;
  readonly vectors: readonly {
    readonly name: string;
    readonly header: Form;
    readonly query: Form;
  }[];
}

const suite: Suite = JSON.parse(
  readFileSync(new URL('../vectors/sigv4.json', import.meta.url), 'utf8'),
);

/** Converts to a request as Node's server delivers it. */
function received({ method, target, headers }: Form): SignedRequest {
  const asBytes = (text: string) => Buffer.from(text).toString('latin1');
  const [rawPath = '', rawQuery = ''] = asBytes(target).split('?');
  return {
    method,
    rawPath,
    rawQuery,
    headers: headers.map(([name, value]) => [name.toLowerCase(), asBytes(value).trim()]),
  };
}

function signedHeadersOf(text: string): string[] {
  const [, names = ''] = /SignedHeaders=([^,& ]+)/.exec(decodeURIComponent(text)) ?? [];
  return names.split(';');
}

describe("authenticate(): AWS's test suite of Signature Version 4", () => {
  const scope = { date: '20150830', region: suite.region, service: suite.service };
  const forms = suite.vectors.flatMap(({ name, header, query }) => [
    { name: `${name}, in the header`, form: header },
    { name: `${name}, presigned`, form: query },
  ]);

  test('is complete', () => expect(forms).toHaveLength(60));

  test.each(forms)('$name', async ({ form }) => {
    const request = received(form);
    const authorization = request.headers.find(([name]) => name === 'authorization')?.[1];
    const signedHeaders = signedHeadersOf(authorization ?? request.rawQuery);
    const key = signingKey(suite.secretAccessKey, scope);
    const { payloadHash, signature } = form;
    const signed = { request, signedHeaders, time: suite.time, scope, payloadHash };
    expect(signatureOf(signed, key)).toBe(signature);
  });
});

describe("authenticate(): an example of S3's documentation", () => {
  const requests = Object.entries({ ...documented, presigned });

  test.each(requests)('is accepted: %s', async (_name, request) => {
    const { caller } = await authenticate(request, exampleCredentials, exampleTime);
    const { accessKeyId, access } = exampleKey;
    expect(caller).toEqual({ accessKeyId, credential: { accessKeyId, access } });
  });
});
