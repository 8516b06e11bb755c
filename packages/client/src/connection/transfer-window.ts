// The transfer window of one direction of a line: how many bytes may be in flight, and how long the
// chunks of a new upload are. It begins with one request and follows the rate at which requests
// complete. A body takes at most half of the time that gateways accept.
//
// The rate is a delivery rate, as BBR estimates it: the bytes completed during a request's life,
// divided by that life. The highest recent sample counts, because samples are too low while the
// line is idle or the service busy, but hardly ever too high.

import { chunkBytesMax, chunkBytesMin } from '../../../wire/src/limits.ts';
import { abortedError, isStorageError } from '../storage-error.ts';
import { onAbort } from './abort.ts';

/** Target time for the bytes in flight, below 15 s even with a sample that is a third too high. */
const windowMs = 10_500;
/** Target time for the first two requests: latency lowers a rate measured with one in flight. */
const pairMs = 15_000;
/** With three chunks in flight, the line stays busy while one of them is answered. */
const chunkMs = 3_000;
const sampleLifeMs = 20_000;
/**
 * The bytes in flight are limited to this multiple of the latency plus `requestsAhead` requests;
 * more would only make each request take longer.
 */
const latenciesAhead = 1.5;
const requestsAhead = 3;
/**
 * Paces only lines on which the longest chunk takes at least this long. Requests start faster than
 * they end, so a rate that was measured too low doubles with each request.
 */
const pacedMsMin = 1_200;
const pace = 0.4;
/** Shorter transfers would measure the service's latency rather than the line. */
const sampleBytesMin = 65_536;
/** The window until the rate is known: several small files, but only one longer request. */
const unknownWindowBytes = 131_072;
/** Requests up to this length are sent without measuring the line first. */
export const unmeasuredBytesMax = 131_072;

/** Gateways accept bodies of calls and of HTTP requests within these times. */
export const callBodyMsMax = 30_000;
export const httpBodyMsMax = 60_000;

/** The service answers a request of this length by a query; shorter ones would cost an update. */
const shortProbeBytes = 8_192;

interface Sample {
  readonly atMs: number;
  readonly bytesPerMs: number;
}

export interface Clock {
  now(): number;
}

export class TransferWindow {
  readonly #clock: Clock;
  /** Newest last; the last one never expires. */
  #samples: Sample[] = [];
  #latencyMs = 0;
  #deliveredBytes = 0;
  #bytesUnderWay = 0;
  /** The starts of the requests under way, oldest first. */
  #starts: number[] = [];
  #waiting: { readonly bytes: number; readonly start: () => void }[] = [];
  /** The last halving: a failure of a request that began earlier has the same cause. */
  #halvedAtMs = Number.NEGATIVE_INFINITY;
  #measurement: Promise<void> | undefined;
  /**
   * A lower estimate, used until a request of the upload itself is sampled. The latency of probes
   * varies by more than the time of their bytes, and chunks that are too short do less harm than
   * chunks that are too long.
   */
  #cautiousBytesPerMs: number | undefined;
  /** The earliest start of the next concurrent request, by `paceOf`. */
  #nextStartMs = 0;
  #paceTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(clock: Clock = performance) {
    this.#clock = clock;
  }

  /** Bytes per second; undefined before the first measurement. */
  get bytesPerSecond(): number | undefined {
    const rate = this.#bytesPerMs();
    return rate === undefined ? undefined : 1_000 * rate;
  }

  /** Returns the chunk length that this line can send in time, for a file of `size` if known. */
  chunkBytes(size = 0, countMax = 1): number {
    const rate = this.#cautiousBytesPerMs ?? this.#bytesPerMs();
    if (rate === undefined) return chunkBytesMax;
    const least = Math.max(chunkBytesMin, Math.ceil(size / countMax));
    return Math.min(chunkBytesMax, Math.max(least, Math.round(rate * chunkMs)));
  }

  /** Returns the request length that this line can send in time, up to `max`. */
  requestBytes(max: number): number {
    const rate = this.#cautiousBytesPerMs ?? this.#bytesPerMs();
    if (rate === undefined) return max;
    return Math.min(max, Math.max(chunkBytesMin, Math.round(2 * rate * chunkMs)));
  }

  /** Returns whether the line can send this many bytes in `ms`; true while its rate is unknown. */
  takes(bytes: number, ms: number): boolean {
    const rate = this.#cautiousBytesPerMs ?? this.#bytesPerMs();
    return rate === undefined || bytes <= rate * ms;
  }

  /** Runs `send` as soon as the window has room for its bytes. */
  async run<T>(bytes: number, signal: AbortSignal | undefined, send: () => Promise<T>): Promise<T> {
    const startMs = await this.#room(bytes, signal);
    const deliveredBefore = this.#deliveredBytes;
    try {
      const result = await send();
      this.#deliveredBytes += bytes;
      const lifeMs = this.#clock.now() - startMs;
      const delivered = this.#deliveredBytes - deliveredBefore;
      if (bytes >= sampleBytesMin) this.#sample(delivered, lifeMs);
      return result;
    } catch (error) {
      if (isLineFailure(error) && startMs > this.#halvedAtMs) this.#halve();
      throw error;
    } finally {
      this.#bytesUnderWay -= bytes;
      this.#starts.splice(this.#starts.indexOf(startMs), 1);
      this.#startWaiting();
    }
  }

  /** Records a transfer that did not wait for the window because its length was not known. */
  note(bytes: number, lifeMs: number): void {
    this.#deliveredBytes += bytes;
    if (bytes >= sampleBytesMin) this.#sample(bytes, lifeMs);
  }

  /** Records the time of a request without a body, which is the service's latency. */
  noteLatency(ms: number): void {
    this.#latencyMs = this.#latencyMs === 0 ? ms : Math.min(this.#latencyMs, ms);
  }

  /**
   * Measures the line unless its rate is known. `probe` sends this many bytes in a request that
   * costs the service nothing. A failed measurement is ignored and repeated next time. One late
   * answer makes the rate too low; `isRepeated` measures a low rate again, with twice the bytes,
   * and the higher counts.
   */
  async measure(probe: (bytes: number) => Promise<unknown>, isRepeated?: boolean): Promise<void> {
    if (this.#measurement === undefined && this.#samples.length > 0) return;
    this.#measurement ??= this.#measureBy(probe, sampleBytesMin, isRepeated).finally(() => {
      this.#measurement = undefined;
    });
    await this.#measurement;
  }

  async #measureBy(
    probe: (bytes: number) => Promise<unknown>,
    probeBytes: number,
    isRepeated?: boolean,
  ): Promise<void> {
    const startMs = this.#clock.now();
    const timed = async (bytes: number) => {
      await probe(bytes);
      return this.#clock.now() - startMs;
    };
    try {
      // Both probes are sent at once, so both include the opening of a connection and the service's
      // latency; the longer one takes more time only because of its additional bytes.
      const probes = [timed(shortProbeBytes), timed(probeBytes)] as const;
      const [shortMs, ms] = await Promise.all(probes);
      const bytes = probeBytes - shortProbeBytes;
      this.#add(bytes / Math.max(1, ms - shortMs, ms / 10));
      const cautiousMs = Math.max(1, ms - shortMs, ms / 5);
      this.#cautiousBytesPerMs = Math.max(this.#cautiousBytesPerMs ?? 0, bytes / cautiousMs);
      if (isRepeated && this.chunkBytes() < chunkBytesMax)
        await this.#measureBy(probe, 2 * probeBytes);
    } catch {
      // The requests that follow fail in the same way and report it.
    }
  }

  /**
   * Unless other requests were in flight, the line was idle during the service's latency. Half of
   * the latency is subtracted: more would overfill a busy line, less would leave a slow service
   * with one request at a time. The bound by `lifeMs` limits a latency recorded at a bad moment.
   */
  #sample(bytes: number, lifeMs: number): void {
    const latencyMs = Math.min(this.#latencyMs, lifeMs) / 2;
    this.#cautiousBytesPerMs = undefined;
    this.#add(bytes / Math.max(1, lifeMs - latencyMs));
  }

  #add(bytesPerMs: number): void {
    const atMs = this.#clock.now();
    const young = this.#samples.filter((sample) => sample.atMs > atMs - sampleLifeMs);
    this.#samples = [...young, { atMs, bytesPerMs }];
    this.#startWaiting();
  }

  #halve(): void {
    const rate = this.#bytesPerMs();
    this.#halvedAtMs = this.#clock.now();
    this.#samples = [];
    if (rate !== undefined) this.#add(rate / 2);
  }

  #bytesPerMs(): number | undefined {
    if (this.#samples.length === 0) return undefined;
    return Math.max(...this.#samples.map(({ bytesPerMs }) => bytesPerMs));
  }

  /** Waits until the window has room; resolves to the time of the start. */
  #room(bytes: number, signal: AbortSignal | undefined): Promise<number> {
    if (signal?.aborted) throw abortedError(signal.reason);
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#waiting = this.#waiting.filter((one) => one !== waiting);
        reject(abortedError(signal?.reason));
        // The next request in the queue may fit now.
        this.#startWaiting();
      };
      const settled = onAbort(signal, stop);
      const waiting = {
        bytes,
        start: () => {
          settled();
          const startMs = this.#clock.now();
          this.#bytesUnderWay += bytes;
          this.#starts.push(startMs);
          resolve(startMs);
        },
      };
      this.#waiting.push(waiting);
      this.#startWaiting();
    });
  }

  #isDue(): boolean {
    const leftMs = this.#nextStartMs - this.#clock.now();
    if (leftMs <= 0) return true;
    clearTimeout(this.#paceTimer);
    this.#paceTimer = setTimeout(() => this.#startWaiting(), leftMs);
    return false;
  }

  /** Returns how many bytes may be in flight, the next request's included. */
  #windowBytes(bytes: number, rate: number | undefined): number {
    if (rate === undefined) return unknownWindowBytes;
    if (this.#starts.length === 1) return rate * pairMs;
    if (this.#latencyMs === 0) return rate * windowMs;
    const neededBytes = rate * latenciesAhead * this.#latencyMs + requestsAhead * bytes;
    return Math.min(rate * windowMs, neededBytes);
  }

  /** Starts waiting requests in order, so that long ones do not starve. */
  #startWaiting(): void {
    const rate = this.#bytesPerMs();
    for (let [next] = this.#waiting; next !== undefined; [next] = this.#waiting) {
      const hasRoom = this.#bytesUnderWay + next.bytes <= this.#windowBytes(next.bytes, rate);
      const [oldestMs] = this.#starts;
      // A late request shows that the rate is overestimated: more requests would fail.
      const isLate = oldestMs !== undefined && this.#clock.now() - oldestMs > pairMs;
      if (this.#starts.length > 0 && (isLate || !hasRoom || !this.#isDue())) return;
      this.#waiting.shift();
      this.#nextStartMs = this.#clock.now() + paceOf(next.bytes, rate);
      next.start();
    }
  }
}

/**
 * Returns the milliseconds until another request may start. On a slow line, requests that start
 * together also end together, and the line is idle while all of them are answered.
 */
function paceOf(bytes: number, bytesPerMs: number | undefined): number {
  const isPaced = bytesPerMs !== undefined && chunkBytesMax / bytesPerMs >= pacedMsMin;
  return isPaced ? (pace * bytes) / bytesPerMs : 0;
}

export interface Line {
  readonly up: TransferWindow;
  readonly down: TransferWindow;
}

export function createLine(clock?: Clock): Line {
  return { up: new TransferWindow(clock), down: new TransferWindow(clock) };
}

/** The service's own refusals are no sign of a bad line. */
function isLineFailure(error: unknown): boolean {
  return (
    isStorageError(error, 'Timeout', 'NetworkError') ||
    (isStorageError(error) && error.status === 408)
  );
}
