// The signed requests of S3's documentation ("Authenticating Requests": examples of the
// Authorization header, of query parameters and of chunks), as the S3 server receives them.

import type { Header, SignedRequest } from '../../../packages/s3/src/signature/signed-request.ts';
import type { AccessKey, Credentials } from '../../../packages/s3/src/signature/verify.ts';

export const exampleTime = new Date('2013-05-24T00:00:00Z');

export const exampleKey: AccessKey = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  access: { profile: 'example' },
};

export const exampleCredentials: Credentials = {
  find: async (id) => (id === exampleKey.accessKeyId ? exampleKey : undefined),
};

const date: Header = ['x-amz-date', '20130524T000000Z'];
const emptyHash = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** Adds the Authorization header for these headers and this signature. */
function signed(start: string, headers: readonly Header[], signature: string): SignedRequest {
  const [method = '', target = ''] = start.split(' ');
  const [rawPath = '', rawQuery = ''] = target.split('?');
  const names = headers.map(([name]) => name).sort();
  const authorization = `AWS4-HMAC-SHA256 Credential=${exampleKey.accessKeyId}/20130524/us-east-1/s3/aws4_request,SignedHeaders=${names.join(';')},Signature=${signature}`;
  return { method, rawPath, rawQuery, headers: [...headers, ['authorization', authorization]] };
}

const plain: readonly Header[] = [
  ['host', 'examplebucket.s3.amazonaws.com'],
  date,
  ['x-amz-content-sha256', emptyHash],
];

function chunked(sha256: string, extra: readonly Header[]): Header[] {
  return [
    ['host', 's3.amazonaws.com'],
    date,
    ['x-amz-storage-class', 'REDUCED_REDUNDANCY'],
    ['x-amz-content-sha256', sha256],
    ['content-encoding', 'aws-chunked'],
    ['x-amz-decoded-content-length', '66560'],
    ...extra,
  ];
}

export const documented = {
  get: signed(
    'GET /test.txt',
    [...plain, ['range', 'bytes=0-9']],
    'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  ),
  put: signed(
    'PUT /test$file.text',
    [
      ['host', 'examplebucket.s3.amazonaws.com'],
      ['date', 'Fri, 24 May 2013 00:00:00 GMT'],
      date,
      ['x-amz-storage-class', 'REDUCED_REDUNDANCY'],
      ['x-amz-content-sha256', '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072'],
    ],
    '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  ),
  lifecycle: signed(
    'GET /?lifecycle',
    plain,
    'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  ),
  list: signed(
    'GET /?max-keys=2&prefix=J',
    plain,
    '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  ),
  chunked: signed(
    'PUT /examplebucket/chunkObject.txt',
    chunked('STREAMING-AWS4-HMAC-SHA256-PAYLOAD', [['content-length', '66824']]),
    '4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9',
  ),
  chunkedWithTrailer: signed(
    'PUT /examplebucket/chunkObject.txt',
    chunked('STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER', [
      ['x-amz-trailer', 'x-amz-checksum-crc32c'],
    ]),
    '106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e',
  ),
} as const;

export const presigned: SignedRequest = {
  method: 'GET',
  rawPath: '/test.txt',
  rawQuery: [
    'X-Amz-Algorithm=AWS4-HMAC-SHA256',
    'X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request',
    'X-Amz-Date=20130524T000000Z',
    'X-Amz-Expires=86400',
    'X-Amz-SignedHeaders=host',
    'X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
  ].join('&'),
  headers: [['host', 'examplebucket.s3.amazonaws.com']],
};
/** The bodies of the two chunked requests: 66,560 times the letter a. */
export const documentedBodies = {
  chunked: [
    '10000;chunk-signature=ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648',
    'a'.repeat(65_536),
    '400;chunk-signature=0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497',
    'a'.repeat(1024),
    '0;chunk-signature=b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9',
    '',
    '',
  ].join('\r\n'),
  chunkedWithTrailer: [
    '10000;chunk-signature=b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2',
    'a'.repeat(65_536),
    '400;chunk-signature=1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7',
    'a'.repeat(1024),
    '0;chunk-signature=2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992',
    'x-amz-checksum-crc32c:sOO8/Q==',
    'x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435',
    '',
    '',
  ].join('\r\n'),
} as const;
