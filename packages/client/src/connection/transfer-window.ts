// The transfer window of one direction of a line: how many bytes may be under way at a time, and
// how long the chunks of a new upload are. It begins with one request and follows the rate at which
// requests were completed. Each body takes at most half of the time here that gateways accept.
//
// The rate is a delivery rate, as BBR estimates it: the bytes completed during a request's life,
// divided by that life. The greatest of the last samples counts, since a sample is too low when the
// line was idle or the service busy, but hardly ever too high.

import { chunkBytesMax, chunkBytesMin } from '../../../wire/src/limits.ts';
import { abortedError, isStorageError } from '../storage-error.ts';
import { onAbort } from './abort.ts';

/**
 * The bytes under way take so long together, and each of them at most as long: below 15 s, though
 * the greatest sample is up to a third too high.
 */
const windowMs = 10_500;
/**
 * A second request may take so long with the first: while one is under way at a time, the service's
 * latency makes the rate look lower than it is.
 */
const pairMs = 15_000;
/** Three chunks are under way, so that the line is in use while one of them is answered. */
const chunkMs = 3_000;
const sampleLifeMs = 20_000;
/**
 * Only requests that take the line so long are paced. They start faster than they end, so that the
 * rate of a line that was measured as too slow doubles with each of them.
 */
const pacedMsMin = 1_200;
const pace = 0.4;
/** Shorter transfers measure the service's latency more than the line. */
const sampleBytesMin = 65_536;
/** Until the rate is known: several small files, but one request of any other length. */
const unknownWindowBytes = 131_072;
/** Requests up to here are sent without measuring the line first: it takes them in time. */
export const unmeasuredBytesMax = 131_072;

/** Gateways accept bodies of calls and of HTTP requests within these times. */
export const callBodyMsMax = 30_000;
export const httpBodyMsMax = 60_000;

/** The service answers a request of this length by a query too, as it does shorter ones not. */
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
  /** The youngest last; one is kept, however old. */
  #samples: Sample[] = [];
  #latencyMs = 0;
  #deliveredBytes = 0;
  #bytesUnderWay = 0;
  #requestsUnderWay = 0;
  #waiting: { readonly bytes: number; readonly start: () => void }[] = [];
  /** Requests that began before it failed for the same reason. */
  #halvedAtMs = Number.NEGATIVE_INFINITY;
  #measurement: Promise<void> | undefined;
  /**
   * Until a request of the upload itself was sampled. The answers to a measurement take longer or
   * shorter than the bytes between them; chunks that are too short do less harm than too long ones.
   */
  #cautiousBytesPerMs: number | undefined;
  /** When the next request may start beside others, by `paceOf`. */
  #nextStartMs = 0;
  #paceTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(clock: Clock = performance) {
    this.#clock = clock;
  }

  /** Bytes a second; undefined before the first measurement. */
  get bytesPerSecond(): number | undefined {
    const rate = this.#bytesPerMs();
    return rate === undefined ? undefined : 1_000 * rate;
  }

  /** The length of chunks that this line takes in time, for a file of that size if it is known. */
  chunkBytes(size = 0, countMax = 1): number {
    const rate = this.#cautiousBytesPerMs ?? this.#bytesPerMs();
    if (rate === undefined) return chunkBytesMax;
    const least = Math.max(chunkBytesMin, Math.ceil(size / countMax));
    return Math.min(chunkBytesMax, Math.max(least, Math.round(rate * chunkMs)));
  }

  /** The length of a request that this line takes in time, up to `max`. */
  requestBytes(max: number): number {
    const rate = this.#cautiousBytesPerMs ?? this.#bytesPerMs();
    if (rate === undefined) return max;
    return Math.min(max, Math.max(chunkBytesMin, Math.round(2 * rate * chunkMs)));
  }

  /** Whether the line takes that many bytes in so long, as far as it is known. */
  takes(bytes: number, ms: number): boolean {
    const rate = this.#cautiousBytesPerMs ?? this.#bytesPerMs();
    return rate === undefined || bytes <= rate * ms;
  }

  /** Sends `bytes` in a request when the window has room for them. */
  async run<T>(bytes: number, signal: AbortSignal | undefined, send: () => Promise<T>): Promise<T> {
    await this.#room(bytes, signal);
    const startMs = this.#clock.now();
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
      this.#requestsUnderWay -= 1;
      this.#startWaiting();
    }
  }

  /** Notes a transfer that did not wait for the window, since its length was not known ahead. */
  note(bytes: number, lifeMs: number): void {
    this.#deliveredBytes += bytes;
    if (bytes >= sampleBytesMin) this.#sample(bytes, lifeMs);
  }

  /** Notes what a request without bytes took: so long the service itself takes to answer. */
  noteLatency(ms: number): void {
    this.#latencyMs = this.#latencyMs === 0 ? ms : Math.min(this.#latencyMs, ms);
  }

  /**
   * Measures the line unless its rate is known: `probe` sends so many bytes in a request that costs
   * the service nothing. A measurement that fails is ignored, and repeated the next time.
   */
  async measure(probe: (bytes: number) => Promise<unknown>): Promise<void> {
    if (this.#samples.length > 0) return;
    this.#measurement ??= this.#measureBy(probe).finally(() => {
      this.#measurement = undefined;
    });
    await this.#measurement;
  }

  async #measureBy(probe: (bytes: number) => Promise<unknown>): Promise<void> {
    const timed = async (bytes: number) => {
      const startMs = this.#clock.now();
      await probe(bytes);
      return this.#clock.now() - startMs;
    };
    try {
      const ms = await timed(sampleBytesMin);
      const isFast = (sampleBytesMin / ms) * chunkMs >= chunkBytesMax;
      // The first request may have opened the connection, and waited for the service's answer.
      const shortMs = isFast ? 0 : await timed(shortProbeBytes);
      const bytes = sampleBytesMin - shortProbeBytes;
      this.#add(bytes / Math.max(1, ms - shortMs, ms / 10));
      this.#cautiousBytesPerMs = bytes / Math.max(1, ms - shortMs, ms / 5);
    } catch {
      // The requests that follow have the same trouble, and report it.
    }
  }

  /**
   * The line was idle while the service answered, unless others were under way. Half of the latency
   * is between both: more would overfill a line in use, and less leaves one request at a time to a
   * slow service. A latency noted in a bad moment must not make up most of a life.
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

  #room(bytes: number, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) throw abortedError(signal.reason);
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#waiting = this.#waiting.filter((one) => one !== waiting);
        reject(abortedError(signal?.reason));
        // The one behind it may have room.
        this.#startWaiting();
      };
      const settled = onAbort(signal, stop);
      const waiting = {
        bytes,
        start: () => {
          settled();
          this.#bytesUnderWay += bytes;
          this.#requestsUnderWay += 1;
          resolve();
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

  /** In their order, so that a long one is not overtaken for ever. */
  #startWaiting(): void {
    const rate = this.#bytesPerMs();
    for (let [next] = this.#waiting; next !== undefined; [next] = this.#waiting) {
      const ms = this.#requestsUnderWay === 1 ? pairMs : windowMs;
      const windowBytes = rate === undefined ? unknownWindowBytes : rate * ms;
      const hasRoom = this.#bytesUnderWay + next.bytes <= windowBytes;
      if (this.#requestsUnderWay > 0 && !(hasRoom && this.#isDue())) return;
      this.#waiting.shift();
      this.#nextStartMs = this.#clock.now() + paceOf(next.bytes, rate);
      next.start();
    }
  }
}

/**
 * Milliseconds until another request may start beside one of that length. On a slow line requests
 * that start together also end together, and nothing is on its way while all of them are answered.
 */
function paceOf(bytes: number, bytesPerMs: number | undefined): number {
  const ms = bytesPerMs === undefined ? 0 : bytes / bytesPerMs;
  return ms < pacedMsMin ? 0 : pace * ms;
}

/** Both directions of the line of one storage. */
export interface Line {
  readonly up: TransferWindow;
  readonly down: TransferWindow;
}

export function createLine(clock?: Clock): Line {
  return { up: new TransferWindow(clock), down: new TransferWindow(clock) };
}

/** The service's own refusals say nothing of the line. */
function isLineFailure(error: unknown): boolean {
  return (
    isStorageError(error, 'Timeout') ||
    isStorageError(error, 'NetworkError') ||
    (isStorageError(error) && error.status === 408)
  );
}
