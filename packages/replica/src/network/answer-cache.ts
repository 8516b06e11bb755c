// The response cache of the network's HTTP gateways, by the rules of dfinity/ic-bn-lib,
// ic-bn-lib/src/http/cache.rs: it stores responses to GET with status 2xx and a known length, by
// authority, path, query and Range, for all clients. It obeys Cache-Control of the response, but
// not of the request.

import type { HttpAnswer } from '../gateway/http-messages.ts';
import { headerValue } from '../gateway/http-messages.ts';
import type { CacheSettings } from './profile.ts';
import { pause, type Random } from './seeded-random.ts';

interface Entry {
  readonly answer: HttpAnswer;
  readonly bytes: number;
  readonly expiresAtMs: number;
  /** Duration of the request. */
  readonly tookMs: number;
}

export interface CacheKey {
  readonly method: string;
  readonly host: string;
  /** Path and query. */
  readonly url: string;
  readonly range: string | undefined;
}

export class AnswerCache {
  readonly #settings: CacheSettings;
  readonly #random: Random;
  readonly #nowMs: () => number;
  readonly #entries = new Map<string, Entry>();
  readonly #underWay = new Map<string, Promise<unknown>>();
  #bytes = 0;

  constructor(settings: CacheSettings, random: Random, nowMs: () => number) {
    this.#settings = settings;
    this.#random = random;
    this.#nowMs = nowMs;
  }

  /** Returns the cached response, or the result of `ask`. */
  async answer(request: CacheKey, ask: () => Promise<HttpAnswer>): Promise<HttpAnswer> {
    if (request.method !== 'GET') return ask();
    const key = JSON.stringify([request.host, request.url, request.range]);
    const found = this.#find(key, this.#settings.earliness);
    if (found !== undefined) return found;
    const other = this.#underWay.get(key);
    if (other !== undefined) {
      await Promise.race([other, pause(this.#settings.lockMs)]);
      const answered = this.#find(key, 0);
      if (answered !== undefined) return answered;
    }
    return this.#fetch(key, ask);
  }

  async #fetch(key: string, ask: () => Promise<HttpAnswer>): Promise<HttpAnswer> {
    const begunMs = this.#nowMs();
    const asked = ask();
    const settled = asked.catch(() => undefined);
    this.#underWay.set(key, settled);
    try {
      const answer = await asked;
      this.#keep(key, answer, this.#nowMs() - begunMs);
      return answer;
    } finally {
      if (this.#underWay.get(key) === settled) this.#underWay.delete(key);
    }
  }

  /**
   * XFetch: the sooner a response expires and the longer its request took, the likelier it counts
   * as expired.
   */
  #find(key: string, earliness: number): HttpAnswer | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    const leftMs = entry.expiresAtMs - this.#nowMs();
    if (leftMs <= 0) this.#drop(key);
    const earlyMs = earliness === 0 ? 0 : -entry.tookMs * earliness * Math.log(this.#random());
    return leftMs > earlyMs ? entry.answer : undefined;
  }

  #keep(key: string, answer: HttpAnswer, tookMs: number): void {
    const { body } = answer;
    const ttlMs = timeToLive(answer, this.#settings);
    if (ttlMs === 0 || !(body instanceof Uint8Array)) return;
    if (body.length > this.#settings.itemBytesMax) return;
    this.#drop(key);
    const expiresAtMs = this.#nowMs() + ttlMs;
    this.#entries.set(key, { answer, bytes: body.length, expiresAtMs, tookMs });
    this.#bytes += body.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#settings.bytesMax) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }
}

/** Returns 0 for a response that is not cached. The gateways ignore `private`. */
function timeToLive({ status, headers }: HttpAnswer, settings: CacheSettings): number {
  if (status < 200 || status > 299) return 0;
  for (const part of (headerValue(headers, 'cache-control') ?? '').split(',')) {
    const [name, value = ''] = part.split('=').map((word) => word.trim());
    if (name === 'no-cache' || name === 'no-store') return 0;
    if (name === 'max-age' && /^\d{1,15}$/.test(value)) {
      return Math.min(1_000 * Number(value), settings.ttlMsMax);
    }
  }
  return settings.ttlMs;
}
