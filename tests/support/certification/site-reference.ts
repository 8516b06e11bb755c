// A slow reference model of everything that is certified: computes the root of the tree from the
// present content. Hashes by Node; HTTP gateway specification, "Response Verification".

import { createHash } from 'node:crypto';
import {
  leafHash,
  newLevel,
  type ReferenceLevel,
  referenceHash,
  setReference,
} from '../../kernel/label-reference.ts';

export interface ReferenceFile {
  readonly bucketId: string;
  readonly path: string;
  readonly etag: string;
  readonly type: string;
  readonly size: number;
  readonly partSize: number;
  readonly parts: readonly Uint8Array[];
}

type Fields = readonly (readonly [name: string, value: string])[];

export interface ReferenceAnswer {
  readonly status: number;
  readonly headers: Fields;
  readonly body: Uint8Array;
}

const responsePart =
  'response_certification:ResponseCertification{response_header_exclusions:ResponseHeaderList{headers:[]}}';

function expressionOf(requestHeaders: readonly string[]): string {
  const list = requestHeaders.map((name) => `"${name}"`).join(',');
  return `default_certification(ValidationArgs{certification:Certification{request_certification:RequestCertification{certified_request_headers:[${list}],certified_query_parameters:[]},${responsePart}}})`;
}

const plain = expressionOf([]);
const ifNoneMatch = expressionOf(['if-none-match']);
const range = expressionOf(['range']);
const anyRequest = `default_certification(ValidationArgs{certification:Certification{no_request_certification:Empty{},${responsePart}}})`;
const noCertification = 'default_certification(ValidationArgs{no_certification:Empty{}})';

function sha256(...parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

function mapHash(fields: readonly (readonly [string, string | Uint8Array])[]): Buffer {
  const pairs = fields.map(([name, value]) =>
    Buffer.concat([sha256(name.toLowerCase()), sha256(value)]),
  );
  return sha256(Buffer.concat(pairs.sort(Buffer.compare)));
}

function requestHash(method: string, headers: Fields): Buffer {
  return sha256(mapHash([[':ic-cert-method', method], ...headers]), sha256(''));
}

function responseHash(answer: ReferenceAnswer, expression: string): Buffer {
  const { status, headers, body } = answer;
  const fields = [
    ...headers,
    ['ic-certificateexpression', expression],
    [':ic-cert-status', Uint8Array.of((status & 127) | 128, status >> 7)],
  ] as const;
  return sha256(mapHash(fields), sha256(body));
}

const emptyLeaf = leafHash(new Uint8Array(0));
const none = new Uint8Array(0);

/** Sets an empty leaf at the path `text`, followed by the byte labels. */
function setLeaf(root: ReferenceLevel, text: string, labels: readonly Uint8Array[]): void {
  setReference(root, { text, hashes: labels }, emptyLeaf);
}

function setFile(root: ReferenceLevel, file: ReferenceFile): void {
  const { etag, type, size, partSize, parts } = file;
  const path = file.path.replaceAll('/', '\0');
  const text = `http_expr\0cloud\0${file.bucketId}\0${path}\0<$>`;
  const validators: Fields = [['etag', etag]];
  const headers: Fields = [...validators, ['content-type', type]];
  const set = (expression: string, asked: readonly [string, Fields], answer: ReferenceAnswer) => {
    const labels = [requestHash(...asked), responseHash(answer, expression)];
    setLeaf(root, text, [sha256(expression), ...labels]);
  };
  const part = (index: number): ReferenceAnswer => {
    const body = parts[index] ?? none;
    const start = index * partSize;
    const covered = `bytes ${start}-${start + body.length - 1}/${size}`;
    return { status: 206, headers: [...headers, ['content-range', covered]], body };
  };
  const whole = { status: 200, headers, body: parts[0] ?? none };
  set(plain, ['GET', []], parts.length > 1 ? part(0) : whole);
  const length: Fields = [...headers, ['content-length', `${size}`]];
  set(plain, ['HEAD', []], { status: 200, headers: length, body: none });
  for (const tag of [etag, `W/${etag}`]) {
    for (const method of ['GET', 'HEAD']) {
      const answer = { status: 304, headers: validators, body: none };
      set(ifNoneMatch, [method, [['if-none-match', tag]]], answer);
    }
  }
  for (const index of parts.keys()) {
    set(range, ['GET', [['range', `bytes=${index * partSize}-`]]], part(index));
  }
}

/** Returns the root of the tree of these files, which contains nothing of private buckets. */
export function referenceRoot(site: {
  readonly files: readonly ReferenceFile[];
  readonly publicBuckets: readonly string[];
  readonly notFound: ReferenceAnswer;
  readonly preflight: ReferenceAnswer;
}): Buffer {
  const { files, publicBuckets, notFound, preflight } = site;
  const root = newLevel();
  const shown = files.filter(({ bucketId }) => publicBuckets.includes(bucketId));
  for (const file of shown) setFile(root, file);
  const options = [
    sha256(plain),
    requestHash('OPTIONS', []),
    responseHash(preflight, plain),
  ] as const;
  for (const { bucketId, path } of shown) {
    const text = `http_expr\0cloud\0${bucketId}\0${path.replaceAll('/', '\0')}\0<$>`;
    setLeaf(root, text, options);
  }
  for (const folder of ['api', 'cloud', 'metrics']) {
    setLeaf(root, `http_expr\0${folder}\0<*>`, [sha256(noCertification)]);
  }
  const missing = [none, responseHash(notFound, anyRequest)];
  // The service stores this subtree as one hash, without its two levels of labels.
  for (const folder of ['', ...publicBuckets.map((bucket) => `cloud\0${bucket}\0`)]) {
    setReference(root, { text: `http_expr\0${folder}<*>` }, outermostHash(missing, options));
  }
  return referenceHash(root);
}

function outermostHash(missing: readonly Uint8Array[], options: readonly Uint8Array[]): Buffer {
  const level = newLevel();
  const nested = (labels: readonly Uint8Array[]): ReferenceLevel | Uint8Array =>
    labels.reduceRight<ReferenceLevel | Uint8Array>(
      (below, label) => new Map([[Buffer.from(label).toString('latin1'), below]]),
      emptyLeaf,
    );
  level.set(sha256(anyRequest).toString('latin1'), nested(missing));
  level.set(sha256(plain).toString('latin1'), nested(options.slice(1)));
  return referenceHash(level);
}
