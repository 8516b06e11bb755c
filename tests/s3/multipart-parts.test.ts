import { createHash } from 'node:crypto';
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ChecksumAlgorithm, runChecksum } from '../../packages/s3/src/body/checksum.ts';
import { combinedCrc } from '../../packages/s3/src/body/combined-crc.ts';
import { MultipartUploads } from '../../packages/s3/src/multipart/multipart-uploads.ts';
import { hasPlace, layoutOf } from '../../packages/s3/src/multipart/part-layout.ts';
import { PartLength } from '../../packages/s3/src/multipart/part-length.ts';
import { Spool } from '../../packages/s3/src/multipart/spool.ts';
import {
  logPath,
  UploadLog,
  type UploadStart,
} from '../../packages/s3/src/multipart/upload-log.ts';
import { chunkBytesMax } from '../../packages/wire/src/limits.ts';

const mebibyte = 1_048_576;
const freshFolder = () => mkdtempSync(join(tmpdir(), 'efs-s3-'));

describe('UploadLog: parts of one length', () => {
  test('consist of whole chunks that are as long as possible', () => {
    const chunksOf = (partBytes: number) => layoutOf(partBytes)?.chunkBytes;
    expect(chunksOf(5 * mebibyte)).toBe(1.25 * mebibyte);
    for (const count of [8, 16, 32, 64, 512]) expect(chunksOf(count * mebibyte)).toBe(mebibyte);
    expect(chunksOf(9_500_000)).toBe(1_900_000);
    expect(chunksOf(100_000)).toBe(100_000);
    const prime = 99_999_989;
    for (const length of [0, 65_535, prime]) expect(chunksOf(length)).toBeUndefined();
    const lengths = fc.integer({ min: 1, max: 100 * mebibyte });
    fc.assert(
      fc.property(lengths, (partBytes) => {
        const chunkBytes = chunksOf(partBytes) ?? partBytes;
        return partBytes % chunkBytes === 0 && (chunksOf(partBytes) ?? 0) <= chunkBytesMax;
      }),
    );
  });

  test('layoutOf() chooses chunks that a slow line transfers in time', () => {
    const slow = (partBytes: number, longest: number) => layoutOf(partBytes, longest)?.chunkBytes;
    expect(slow(8 * mebibyte, 300_000)).toBe(mebibyte / 4);
    expect(slow(9_500_000, 180_000)).toBe(125_000);
    for (const longest of [65_536, 100_000, 180_000, 900_000]) {
      const chunkBytes = slow(64 * mebibyte, longest) ?? 0;
      expect(chunkBytes).toBeGreaterThanOrEqual(65_536);
      expect(chunkBytes).toBeLessThanOrEqual(longest);
    }
  });

  test('have offsets up to the last chunk that a file can have', () => {
    const layout = { partBytes: 8 * mebibyte, chunkBytes: mebibyte };
    expect(hasPlace(layout, 1250, layout.partBytes)).toBe(true);
    expect(hasPlace(layout, 1251, 1)).toBe(false);
  });
});

describe('UploadLog: the length of parts', () => {
  const { signal } = new AbortController();
  const part = (number: number, size: number, isCopied = false) => ({ number, size, isCopied });

  test('is that of part 1, or of any two equal parts', async () => {
    const first = new PartLength([]);
    first.note(part(1, 5));
    expect(await first.settled(signal)).toBe(5);
    const alike = new PartLength([part(7, 8)]);
    alike.note(part(3, 6));
    alike.note(part(4, 8));
    expect(await alike.settled(signal)).toBe(8);
  });

  test('is awaited by parts that arrive before part 1', async () => {
    const length = new PartLength([]);
    length.note(part(3, 2));
    const settled = length.settled(signal);
    length.note(part(1, 9));
    expect(await settled).toBe(9);
  });

  test('is unknown after an earlier part, a copied part, or a repeated part', async () => {
    const lengths = [new PartLength([part(1, 5)]), new PartLength([]), new PartLength([])];
    lengths[1]?.note(part(1, 5, true));
    for (const size of [5, 5]) lengths[2]?.note(part(4, size));
    const settled = await Promise.all(lengths.map((length) => length.settled(signal)));
    expect(settled).toEqual([undefined, undefined, undefined]);
    const aborted = lengths[0]?.settled(AbortSignal.abort(new Error('gone')));
    await expect(aborted).rejects.toThrow('gone');
  });
});

describe('UploadLog: the CRC of a whole object', () => {
  const algorithms = ['CRC32', 'CRC32C', 'CRC64NVME'] as const;
  const sumOf = async (algorithm: ChecksumAlgorithm, bytes: Uint8Array) => {
    const running = await runChecksum(algorithm);
    running.update(bytes);
    return Buffer.from(running.digest()).toString('base64');
  };

  test.each(algorithms)('is computed from the CRCs of its parts: %s', async (algorithm) => {
    const parts = fc.array(fc.uint8Array({ maxLength: 50 }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(parts, async (pieces) => {
        const sums = await Promise.all(
          pieces.map(async (piece) => ({
            value: await sumOf(algorithm, piece),
            size: piece.length,
          })),
        );
        const whole = await sumOf(algorithm, Buffer.concat(pieces));
        expect(combinedCrc(algorithm, sums)).toBe(whole);
      }),
    );
  });

  test('is computed for parts of any length, and not from other digests', () => {
    const zeros = Buffer.alloc(3_000_000);
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(crc32(zeros));
    const part = { value: sum.toString('base64'), size: zeros.length };
    sum.writeUInt32BE(crc32(zeros, crc32(zeros)));
    expect(combinedCrc('CRC32', [part, part])).toBe(sum.toString('base64'));
    expect(combinedCrc('SHA256', [part])).toBeUndefined();
  });
});

describe('UploadLog: the log of an upload', () => {
  const start: UploadStart = {
    uploadId: 'abc',
    holder: 'EFS',
    bucket: 'photos',
    path: 'a/b',
    key: 'a/b',
    begunAt: '2026-11-22T00:00:00.000Z',
    description: { contentType: 'a/b', headers: {}, expires: undefined, metadata: {}, tags: [] },
  };
  const part = (number: number) => ({
    number,
    size: 3,
    md5: createHash('md5').update(String(number)).digest('hex'),
    storedAt: start.begunAt,
  });
  const read = async (folder: string) => (await UploadLog.open(folder, 'abc'))?.state;

  test('can be read again as it was written', async () => {
    const folder = freshFolder();
    const log = await UploadLog.create(folder, start);
    const session = { sessionId: 's', partBytes: 8, chunkBytes: 4 };
    await log.append({ kind: 'session', session });
    await Promise.all([2, 1, 3].map((number) => log.append({ kind: 'part', part: part(number) })));
    await log.append({ kind: 'replacing', number: 3 });
    await log.append({ kind: 'part', part: { ...part(2), size: 7 } });
    await log.append({ kind: 'whole', sessionId: 'w' });
    expect(await read(folder)).toEqual(log.state);
    expect([...log.state.parts.values()].map(({ size }) => size).sort()).toEqual([3, 7]);
    expect(statSync(logPath(folder, 'abc')).mode & 0o777).toBe(0o600);
    expect(await UploadLog.open(folder, 'other')).toBeUndefined();
  });

  test('ends at its last complete line, wherever it was cut off', async () => {
    const folder = freshFolder();
    const log = await UploadLog.create(folder, start);
    const { size: startBytes } = statSync(logPath(folder, 'abc'));
    await log.append({ kind: 'part', part: part(1) });
    const whole = readFileSync(logPath(folder, 'abc'));
    for (let length = startBytes; length <= whole.length; length += 1) {
      writeFileSync(logPath(folder, 'abc'), whole.subarray(0, length));
      const again = await UploadLog.open(folder, 'abc');
      expect(again?.state.parts.size).toBe(length === whole.length ? 1 : 0);
      await again?.append({ kind: 'part', part: part(2) });
      expect((await read(folder))?.parts.has(2)).toBe(true);
    }
  });

  test('has no partial lines of a failed append', async () => {
    const folder = freshFolder();
    const log = await UploadLog.create(folder, start);
    appendFileSync(logPath(folder, 'abc'), '{"kind":"pa');
    await log.append({ kind: 'part', part: part(1) });
    expect((await read(folder))?.parts.has(1)).toBe(true);
  });

  test('is refused if it is damaged, and not created again if it was deleted', async () => {
    const folder = freshFolder();
    const log = await UploadLog.create(folder, start);
    await expect(UploadLog.create(folder, start)).rejects.toThrow('EEXIST');
    appendFileSync(logPath(folder, 'abc'), 'nonsense\n');
    await expect(UploadLog.open(folder, 'abc')).rejects.toThrow('start a new upload');
    rmSync(logPath(folder, 'abc'));
    await expect(log.append({ kind: 'replacing', number: 1 })).rejects.toThrow('ENOENT');
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('UploadLog: idle uploads', () => {
  const start = {
    ...{ holder: 'EFS', bucket: 'photos', path: 'a', key: 'a' },
    description: { contentType: 'a/b', headers: {}, expires: undefined, metadata: {}, tags: [] },
  };

  test('end after a day, together with their waiting parts', async () => {
    const folder = freshFolder();
    const former = new MultipartUploads({ folder });
    const [old, young] = [await former.create(start), await former.create(start)];
    const waiting = join(folder, `${old}.0123456789abcdef.part`);
    writeFileSync(waiting, 'bytes');
    const dayAgo = new Date(Date.now() - 25 * 3_600_000);
    utimesSync(logPath(folder, old), dayAgo, dayAgo);
    await new MultipartUploads({ folder }).create(start);
    expect(readdirSync(folder)).toHaveLength(4);
    utimesSync(waiting, dayAgo, dayAgo);
    const uploads = new MultipartUploads({ folder });
    const third = await uploads.create(start);
    expect(readdirSync(folder)).toHaveLength(3);
    const owner = { holder: 'EFS', bucket: 'photos', key: 'a' };
    await expect(uploads.find(old, owner)).rejects.toMatchObject({ code: 'NoSuchUpload' });
    for (const id of [young, third])
      expect((await uploads.find(id, owner)).state.parts.size).toBe(0);
  });

  test('are found only by id, holder, bucket and key, and by no path', async () => {
    const uploads = new MultipartUploads({ folder: freshFolder() });
    const id = await uploads.create(start);
    const owner = { holder: 'EFS', bucket: 'photos', key: 'a' };
    for (const other of [{ holder: 'other' }, { bucket: 'other' }, { key: 'b' }]) {
      const found = uploads.find(id, { ...owner, ...other });
      await expect(found).rejects.toMatchObject({ code: 'NoSuchUpload' });
    }
    for (const other of [
      '',
      `../${id}`,
      `${id}.log`,
      `${id}x`,
      '../../../../../etc/passwd'.padEnd(32),
    ]) {
      await expect(uploads.find(other, owner)).rejects.toMatchObject({ code: 'NoSuchUpload' });
    }
  });
});

describe('UploadLog: the spool', () => {
  async function* inPieces(bytes: Uint8Array, end?: Error) {
    for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
    if (end !== undefined) throw end;
  }
  const bytes = Buffer.alloc(300_000, 'spool');

  test('returns what it stored, and only its user can read it', async () => {
    const folder = freshFolder();
    const spool = await Spool.open(folder, 1_000_000, new Map());
    const name = await spool.write('abc', inPieces(bytes), bytes.length);
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    const pieces: Uint8Array[] = [];
    for await (const piece of spool.read(name)) pieces.push(piece);
    expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
    rmSync(join(folder, name));
    await expect(spool.read(name).next()).rejects.toMatchObject({ code: 'InvalidPart' });
  });

  test('is limited, also over a restart, and has room again after a removal', async () => {
    const folder = freshFolder();
    const spool = await Spool.open(folder, 1_400_000, new Map());
    const [name] = [
      await spool.write('abc', inPieces(bytes), bytes.length),
      await spool.write('abc', inPieces(bytes), bytes.length),
    ];
    const again = await Spool.open(folder, 1_400_000, new Map());
    for (const full of [spool, again]) {
      await expect(full.write('abc', inPieces(bytes), bytes.length)).rejects.toThrow(
        'at most 700000 are for it now',
      );
    }
    await again.remove(name);
    await again.remove(name);
    await again.write('abc', inPieces(bytes), bytes.length);
    expect(readdirSync(folder)).toHaveLength(2);
  });

  test('keeps nothing of a failed part', async () => {
    const folder = freshFolder();
    const spool = await Spool.open(folder, 2 * bytes.length, new Map());
    const failing = inPieces(bytes, new Error('The client has closed the connection.'));
    await expect(spool.write('abc', failing, bytes.length)).rejects.toThrow('has closed');
    expect(readdirSync(folder)).toEqual([]);
    await spool.write('abc', inPieces(bytes), bytes.length);
  });
});
