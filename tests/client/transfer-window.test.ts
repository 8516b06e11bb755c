// The transfer window on simulated lines with a virtual clock: the bytes in flight, and the
// duration of each request.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { TransferWindow } from '../../packages/client/src/connection/transfer-window.ts';
import { StorageError } from '../../packages/client/src/storage-error.ts';

const clock = { now: () => Date.now() };
const unlimited = Number.POSITIVE_INFINITY;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

type Rate = (elapsedMs: number) => number;

/**
 * Simulates a line that requests share evenly, and a service that answers `latencyMs` after the
 * body, or after the end of the round if `roundMs` is given.
 */
function simulatedLine(bytesPerSecond: Rate, latencyMs: number, roundMs = 0) {
  const openedMs = Date.now();
  let sent = 0;
  const bodies = new Set<{ left: number; done: () => void }>();
  const stepMs = 20;
  const timer = setInterval(() => {
    let bytes = (bytesPerSecond(Date.now() - openedMs) * stepMs) / 1_000;
    for (const body of bodies) {
      const part = Math.min(body.left, bytes / bodies.size);
      body.left -= part;
      if (body.left <= 1) {
        bodies.delete(body);
        const waitMs = roundMs === 0 ? 0 : roundMs - ((Date.now() - openedMs) % roundMs);
        setTimeout(body.done, latencyMs + waitMs);
      }
    }
    bytes = 0;
  }, stepMs);
  const lives: number[] = [];
  return {
    /** Duration of each body in milliseconds, without the service's latency. */
    lives,
    stop: () => clearInterval(timer),
    send: (bytes: number) =>
      new Promise<void>((resolve) => {
        const startMs = Date.now();
        const done = () => {
          lives.push(Date.now() - startMs - latencyMs);
          resolve();
        };
        sent += 1;
        bodies.add({ left: bytes, done });
      }),
    sent: () => sent,
  };
}

interface SentFile {
  readonly bytes: number;
  readonly chunkBytes: number;
  readonly workers?: number;
}

/** Sends a file as an upload does; returns the milliseconds that it takes. */
async function sendFile(
  window: TransferWindow,
  line: ReturnType<typeof simulatedLine>,
  { bytes, chunkBytes, workers = 8 }: SentFile,
): Promise<number> {
  const startMs = Date.now();
  let left = bytes;
  const work = async () => {
    while (left > 0) {
      const chunk = Math.min(left, chunkBytes);
      left -= chunk;
      await window.run(chunk, undefined, () => line.send(chunk));
    }
  };
  const sending = Promise.all(Array.from({ length: workers }, work));
  let isOver = false;
  sending.then(() => {
    isOver = true;
  });
  while (!isOver) await vi.advanceTimersByTimeAsync(1_000);
  return Date.now() - startMs;
}

async function measured(rate: Rate, latencyMs: number) {
  const window = new TransferWindow(clock);
  const line = simulatedLine(rate, latencyMs);
  const measuring = window.measure(line.send);
  await vi.advanceTimersByTimeAsync(20_000);
  await measuring;
  return { window, line };
}

describe('TransferWindow.measure()', () => {
  test.each([
    [30_000, 90_000],
    [150_000, 450_000],
    [400_000, 1_200_000],
    [10_000_000, 1_900_000],
  ])('chooses for a line of %i B/s chunks of about %i bytes', async (rate, expected) => {
    for (const latencyMs of [10, 600]) {
      const { window, line } = await measured(() => rate, latencyMs);
      expect(window.chunkBytes()).toBeGreaterThan(0.7 * expected);
      expect(window.chunkBytes()).toBeLessThan(Math.min(1.4 * expected, 1_900_001));
      line.stop();
    }
  });

  test('takes one exchange, with both requests at once', async () => {
    const window = new TransferWindow(clock);
    const line = simulatedLine(() => 400_000, 600);
    const startMs = Date.now();
    const measuring = window.measure(line.send).then(() => Date.now() - startMs);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await measuring).toBeLessThan(900);
    expect(line.sent()).toBe(2);
    line.stop();
  });

  test.each([
    // Milliseconds until the answers to the short and the long probe of each measurement.
    ['a late answer does not limit a stream', [300, 1_300], [300, 310], 4, 19e9],
    ['nor does one to the second measurement', [300, 500], [300, 1_300], 4, 8e9],
    ['a fast line is measured once', [300, 310], [300, 1_300], 2, 19e9],
  ])(
    'measures a low rate twice for a stream: %s',
    async (_, first, second, probes, streamBytes) => {
      const window = new TransferWindow(clock);
      const delays = [...first, ...second];
      let asked = 0;
      const probe = () => new Promise((resolve) => setTimeout(resolve, delays[asked++]));
      const measuring = window.measure(probe, true);
      await vi.advanceTimersByTimeAsync(5_000);
      await measuring;
      expect(asked).toBe(probes);
      expect(10_000 * window.chunkBytes(undefined, 10_000)).toBeGreaterThanOrEqual(streamBytes);
    },
  );

  test.each([
    [30_000, false, false],
    [50_000, false, true],
    [150_000, true, true],
  ])(
    'says whether a line of %i B/s takes 1.9 MB in 24 s: %s, in 48 s: %s',
    async (rate, inCall, inRequest) => {
      const { window, line } = await measured(() => rate, 600);
      expect([24_000, 48_000].map((ms) => window.takes(1_900_000, ms))).toEqual([
        inCall,
        inRequest,
      ]);
      expect(new TransferWindow(clock).takes(1_900_000, 1)).toBe(true);
      line.stop();
    },
  );

  test('chooses chunks of at least 65,536 bytes, of which 10,000 hold the file', async () => {
    const { window, line } = await measured(() => 5_000, 600);
    expect(window.chunkBytes()).toBe(65_536);
    expect(window.chunkBytes(10_000 * 500_000, 10_000)).toBe(500_000);
    line.stop();
  });

  test('does not measure a known line again, and ignores a failure', async () => {
    const window = new TransferWindow(clock);
    await window.measure(() => Promise.reject(new Error('no line')));
    expect(window.bytesPerSecond).toBeUndefined();
    await window.measure(async () => {});
    const probe = vi.fn();
    await window.measure(probe);
    expect(probe).not.toHaveBeenCalled();
  });
});

describe('TransferWindow.run()', () => {
  test('sends eight chunks at once on a fast line that was measured', async () => {
    const { window, line } = await measured(() => unlimited, 300);
    line.stop();
    const slow = simulatedLine(() => unlimited, 2_000);
    for (let count = 0; count < 8; count++) {
      void window.run(1_900_000, undefined, () => slow.send(1_900_000));
    }
    await vi.advanceTimersByTimeAsync(0);
    expect(slow.sent()).toBe(8);
    slow.stop();
  });

  test('begins with one request on a line that was not measured, and soon adds others', async () => {
    const window = new TransferWindow(clock);
    const line = simulatedLine(() => unlimited, 2_000);
    const sent = Array.from({ length: 8 }, () =>
      window.run(1_900_000, undefined, () => line.send(1_900_000)),
    );
    await vi.advanceTimersByTimeAsync(0);
    expect(line.sent()).toBe(1);
    await vi.advanceTimersByTimeAsync(4_000);
    expect(line.sent()).toBeGreaterThan(3);
    await vi.advanceTimersByTimeAsync(5_000);
    await Promise.all(sent);
    line.stop();
  });

  test('sends several small requests at once on a line that was not measured', async () => {
    const window = new TransferWindow(clock);
    const line = simulatedLine(() => 1, 0);
    for (let count = 0; count < 8; count++)
      void window.run(5_000, undefined, () => line.send(5_000));
    await vi.advanceTimersByTimeAsync(0);
    expect(line.sent()).toBe(8);
    line.stop();
  });

  test.each([
    [30_000, 3_000_000],
    [150_000, 30_000_000],
    [400_000, 30_000_000],
    [2_000_000, 60_000_000],
  ])('uses a line of %i B/s fully, with no body longer than 15 s', async (rate, bytes) => {
    for (const latencyMs of [20, rate < 1_000_000 ? 2_600 : 600]) {
      // A query answers the measurement; updates take longer.
      const { window, line: queries } = await measured(() => rate, Math.min(latencyMs, 600));
      queries.stop();
      const line = simulatedLine(() => rate, latencyMs);
      window.noteLatency(latencyMs);
      const ms = await sendFile(window, line, { bytes, chunkBytes: window.chunkBytes() });
      expect((bytes / rate) * 1_000).toBeGreaterThan(0.88 * ms);
      expect(Math.max(...line.lives)).toBeLessThan(15_000);
      line.stop();
    }
  });

  test.each([
    [30_000, 65_536],
    [150_000, 100_000],
    [400_000, 65_536],
    [400_000, 215_000],
    [400_000, 431_000],
    [1_000_000, 215_000],
  ])('uses a line of %i B/s for up to 32 chunks of %i bytes without pause', async (...row) => {
    const [rate, chunkBytes] = row;
    const { window, line: queries } = await measured(() => rate, 600);
    queries.stop();
    const line = simulatedLine(() => rate, 1_900, 1_000);
    window.noteLatency(2_600);
    const bytes = 75 * rate;
    const ms = await sendFile(window, line, { bytes, chunkBytes, workers: 32 });
    expect((bytes / rate) * 1_000).toBeGreaterThan(0.88 * ms);
    expect(Math.max(...line.lives)).toBeLessThan(15_000);
    line.stop();
  });

  test('uses a line that alternates between 2 MB/s and 50 kB/s, with no body longer than 30 s', async () => {
    const rate: Rate = (ms) => (Math.floor(ms / 10_000) % 2 === 0 ? 2_000_000 : 50_000);
    const { window, line } = await measured(rate, 600);
    const bytes = 60_000_000;
    const ms = await sendFile(window, line, { bytes, chunkBytes: window.chunkBytes() });
    expect(bytes / 1_025_000).toBeGreaterThan(0.8 * (ms / 1_000));
    expect(Math.max(...line.lives)).toBeLessThan(30_000);
    line.stop();
  });

  test('sends one chunk at a time on a line that becomes slow for good', async () => {
    const { window, line } = await measured((ms) => (ms < 30_000 ? 4_000_000 : 130_000), 300);
    const chunkBytes = window.chunkBytes();
    await sendFile(window, line, { bytes: 60_000_000, chunkBytes });
    const last = line.lives.slice(-4);
    expect(Math.max(...last)).toBeLessThan(16_000);
    line.stop();
  });

  test('survives 20 s without a byte, and then uses the line again', async () => {
    const { window, line } = await measured(
      (ms) => (ms > 30_000 && ms < 50_000 ? 0 : 400_000),
      600,
    );
    const bytes = 20_000_000;
    const ms = await sendFile(window, line, { bytes, chunkBytes: window.chunkBytes() });
    expect(ms).toBeLessThan(1_000 * (bytes / 400_000 / 0.88 + 20));
    line.stop();
  });

  test('halves the window once if a request fails in transit, and not after a refusal', async () => {
    const { window, line } = await measured(() => 400_000, 10);
    const before = window.bytesPerSecond ?? 0;
    const fails = (error: Error) =>
      window.run(100_000, undefined, () => Promise.reject(error)).catch(() => {});
    await fails(new StorageError('AccessDenied', 'no'));
    expect(window.bytesPerSecond).toBe(before);
    const lost = new StorageError('NetworkError', 'lost');
    await Promise.all([fails(lost), fails(lost), fails(lost)]);
    expect(window.bytesPerSecond).toBe(before / 2);
    line.stop();
  });

  test('holds the other requests back while one takes more than 15 s', async () => {
    const { window, line } = await measured(() => 400_000, 600);
    line.stop();
    let end = () => {};
    const slow = () =>
      new Promise<void>((resolve) => {
        end = resolve;
      });
    const held = window.run(65_536, undefined, slow);
    await vi.advanceTimersByTimeAsync(14_000);
    const send = vi.fn(async () => {});
    await window.run(65_536, undefined, send);
    await vi.advanceTimersByTimeAsync(2_000);
    const late = window.run(65_536, undefined, send);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(send).toHaveBeenCalledTimes(1);
    end();
    await Promise.all([held, late]);
    expect(send).toHaveBeenCalledTimes(2);
  });

  test('lets the next request start when a waiting one is given up', async () => {
    const window = new TransferWindow(clock);
    const line = simulatedLine(() => 1_000_000, 0);
    const first = window.run(1_000_000, undefined, () => line.send(1_000_000));
    const controller = new AbortController();
    const stopped = window.run(1_000_000, controller.signal, () => line.send(1_000_000));
    const small = window.run(1_000, undefined, () => line.send(1_000));
    controller.abort();
    await expect(stopped).rejects.toMatchObject({ code: 'Aborted' });
    await vi.advanceTimersByTimeAsync(3_000);
    await Promise.all([first, small]);
    line.stop();
  });
});
