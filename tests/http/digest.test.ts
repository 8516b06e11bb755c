import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { Refusal } from '../../src/domain/shared/refusal.ts';
import { sentDigests } from '../../src/http/digest.ts';
import type { Header } from '../../src/http/message.ts';

const digest = createHash('sha256').update('hello').digest();
const good = `sha-256=:${digest.toString('base64')}:`;
const other = `sha-256=:${createHash('sha256').digest('base64')}:`;

function sent(...headers: Header[]): string[] {
  const request = { method: 'PUT', url: '/', headers, body: new Uint8Array(0) };
  return sentDigests(request).map((bytes) => Buffer.from(bytes).toString('hex'));
}

describe('sentDigests()', () => {
  test.each([
    good,
    ` ${good} `,
    `${good};a=1;b`,
    `sha-512=:AAAA:, ${good}`,
    `${good}, md5=:AAAA:,unixsum=:AA==:`,
    `md5=:AAAA:;a="x, y";  b=?1\t,\t${good};c`,
    `${other}, ${good}`,
  ])('reads %j', (value) => {
    expect(sent(['Content-Digest', value])).toEqual([digest.toString('hex')]);
  });

  test('reads both fields, and joins lines of one field as a list', () => {
    const both = sent(['repr-digest', good], ['CONTENT-DIGEST', good]);
    expect(both).toEqual([digest.toString('hex'), digest.toString('hex')]);
    const lines = sent(['Content-Digest', 'sha-512=:AAAA:'], ['Content-Digest', good]);
    expect(lines).toEqual([digest.toString('hex')]);
  });

  test('finds no digest without the fields or with unknown algorithms only', () => {
    expect(sent()).toEqual([]);
    expect(sent(['Content-Digest', 'sha-512=:AAAA:'])).toEqual([]);
    expect(sent(['Repr-Digest', 'x*.-_9=::'])).toEqual([]);
    expect(sent(['Want-Content-Digest', 'sha-256=10'])).toEqual([]);
  });

  test.each([
    '',
    'sha-256',
    'sha-256=',
    'sha-256=abc',
    `sha-256=${digest.toString('base64')}`,
    'sha-256=::',
    'sha-256=:AAAA:',
    `sha-256=:${digest.toString('base64').slice(0, -1)}:`,
    `sha-256=:${digest.toString('base64url')}:`,
    `sha-256=:${digest.toString('hex')}:`,
    `SHA-256=:${digest.toString('base64')}:`,
    `${good},`,
    `,${good}`,
    `${good} ${good}`,
    `${good}, sha-512=x`,
    `${good}, ${'a'.repeat(1_024)}=::`,
    `${'a=::;a=         ,'.repeat(40)}!`,
    `${'a=::, '.repeat(40)}${good}`,
    `${good}${';a'.repeat(40)}`,
  ])('refuses the malformed %j', (value) => {
    const refuse = () => sent(['Content-Digest', value]);
    expect(refuse).toThrow(Refusal);
    expect(refuse).toThrow('Content-Digest must be');
  });
});
