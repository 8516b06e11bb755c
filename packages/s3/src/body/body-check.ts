// Compares the bytes of a body, as they arrive, with the length and digests of the request.

import { createHash } from 'node:crypto';
import { S3Error } from '../s3-error.ts';
import {
  type ChecksumAlgorithm,
  checksumHeader,
  type RunningChecksum,
  runChecksum,
} from './checksum.ts';
import type { Trailer } from './chunked-body.ts';
import { type Expected, type ExpectedChecksum, requireChecksum } from './expected-digests.ts';

export interface Digests {
  readonly md5: Uint8Array;
  /** The requested checksum, computed from the bytes. */
  readonly checksum?: Checksum;
}

export interface Checksum {
  readonly algorithm: ChecksumAlgorithm;
  /** In base64. */
  readonly value: string;
}

export class BodyCheck {
  readonly #expected: Expected;
  readonly #checksum: RunningChecksum | undefined;
  readonly #md5 = createHash('md5');
  readonly #sha256 = createHash('sha256');
  #length = 0;

  private constructor(expected: Expected, checksum: RunningChecksum | undefined) {
    this.#expected = expected;
    this.#checksum = checksum;
  }

  static async begin(expected: Expected): Promise<BodyCheck> {
    const { checksum } = expected;
    return new BodyCheck(expected, checksum && (await runChecksum(checksum.algorithm)));
  }

  update(bytes: Uint8Array): void {
    this.#length += bytes.length;
    if (this.#length > this.#expected.length) throw this.#wrongLength();
    this.#md5.update(bytes);
    if (this.#expected.sha256 !== undefined) this.#sha256.update(bytes);
    this.#checksum?.update(bytes);
  }

  /** Must be called after the last byte. Throws S3Error if a declared value does not match. */
  finish(trailer: Trailer): Digests {
    const { length, md5, sha256, checksum } = this.#expected;
    if (this.#length < length) throw this.#wrongLength();
    const found = this.#md5.digest();
    if (sha256 !== undefined && sha256 !== this.#sha256.digest('hex')) {
      throw new S3Error(
        'XAmzContentSHA256Mismatch',
        'The SHA-256 of the body does not match x-amz-content-sha256.',
      );
    }
    if (md5 !== undefined && md5 !== found.toString('base64')) {
      throw new S3Error('BadDigest', 'The MD5 of the body does not match Content-MD5.');
    }
    requireAnnounced(trailer, checksum);
    return checksum === undefined
      ? { md5: found }
      : { md5: found, checksum: this.#sameChecksum(checksum, trailer) };
  }

  #sameChecksum({ algorithm, value }: ExpectedChecksum, trailer: Trailer): Checksum {
    const header = checksumHeader(algorithm);
    const meant = value ?? trailer.get(header) ?? '';
    requireChecksum(algorithm, meant);
    const found = Buffer.from(this.#checksum?.digest() ?? []).toString('base64');
    if (found === meant) return { algorithm, value: found };
    throw new S3Error('BadDigest', `The ${algorithm} of the body does not match ${header}.`);
  }

  #wrongLength(): S3Error {
    return new S3Error(
      'IncompleteBody',
      `The body is shorter or longer than the ${this.#expected.length} bytes that its headers declare.`,
    );
  }
}

function requireAnnounced(trailer: Trailer, checksum: ExpectedChecksum | undefined): void {
  const isTrailed = checksum !== undefined && checksum.value === undefined;
  const announced = isTrailed ? [checksumHeader(checksum.algorithm)] : [];
  if ([...trailer.keys()].join() === announced.join()) return;
  throw new S3Error(
    'MalformedTrailerError',
    'The trailer does not have the header that x-amz-trailer names.',
  );
}
