// Speeds up consecutive range reads of an object, as made by file systems and readers of columnar
// files. A record is reused for a second. If a range begins where the previous one ended, the bytes
// after it are fetched with it. Each access key has its own cache; cached bytes belong to one
// entity tag.

import type { ByteRange } from './range.ts';
import type { StoredObject } from './stored-object.ts';

const knownMs = 1_000;
/** Maximum number of objects, each with at most one window of bytes: 8 MB in total. */
const objectsMax = 4;
/** Number of bytes that one request fetches from the service. */
const windowBytes = 1_900_000;
/** Bytes unused for this time are dropped. */
const idleMs = 10_000;

interface Window extends ByteRange {
  /** Undefined: the object was replaced. */
  readonly bytes: Promise<Uint8Array | undefined>;
}

interface Recent {
  readonly object: StoredObject;
  readonly untilMs: number;
  /** The number of changes before the request. */
  readonly changes: number;
  /** The end of the latest range. */
  end?: number;
  window?: Window | undefined;
  idle?: NodeJS.Timeout;
}

export interface RangeRead {
  /** Access key, bucket and path. */
  readonly name: string;
  readonly object: StoredObject;
  readonly range: ByteRange;
  /** Undefined: the object was replaced. */
  readonly fetch: (range: ByteRange) => Promise<Uint8Array | undefined>;
}

export class RecentRanges {
  readonly #nowMs: () => number;
  /** In order of use, the least recently used first. */
  readonly #recent = new Map<string, Recent>();
  #changes = 0;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Must be called before and after a change, because a record read before it may be outdated. */
  noteChange(): void {
    this.#changes += 1;
  }

  /** Returns a record that is at most one second old. */
  async find(name: string, load: () => Promise<StoredObject>): Promise<StoredObject> {
    const known = this.#recent.get(name);
    const [nowMs, changes] = [this.#nowMs(), this.#changes];
    if (known !== undefined && nowMs < known.untilMs && known.changes === changes) {
      return known.object;
    }
    const object = await load();
    const former = this.#recent.get(name);
    const isSame = former?.object.record.etag === object.record.etag;
    const { end, window } = isSame ? former : {};
    this.#keep(name, { object, untilMs: nowMs + knownMs, changes, end, window } as Recent);
    return object;
  }

  forget(name: string): void {
    clearTimeout(this.#recent.get(name)?.idle);
    this.#recent.delete(name);
  }

  /**
   * Returns the bytes of the range if it follows the previous one, undefined if it must be read by
   * itself, and 'replaced' if the object has another version.
   */
  async read({
    name,
    object,
    range,
    fetch,
  }: RangeRead): Promise<Uint8Array | 'replaced' | undefined> {
    const recent = this.#recent.get(name);
    if (recent?.object.record.etag !== object.record.etag) return undefined;
    const known = recent.window && isIn(range.start, recent.window) ? recent.window : undefined;
    const isNext = range.start === recent.end || known !== undefined;
    recent.end = range.end;
    if (!isNext || range.end - range.start > windowBytes) return undefined;
    const found =
      known !== undefined && range.end <= known.end ? known : this.#open(recent, range, fetch);
    const bytes = await found.bytes;
    if (bytes === undefined) return 'replaced';
    return bytes.subarray(range.start - found.start, range.end - found.start);
  }

  #open(recent: Recent, { start }: ByteRange, fetch: RangeRead['fetch']): Window {
    const end = Math.min(start + windowBytes, recent.object.size);
    const window: Window = { start, end, bytes: fetch({ start, end }) };
    recent.window = window;
    // Readers await the bytes and get the failure; the next reader fetches again.
    window.bytes.catch(() => {
      if (recent.window === window) recent.window = undefined;
    });
    return window;
  }

  #keep(name: string, recent: Recent): void {
    this.forget(name);
    const [oldest] = this.#recent.keys();
    if (this.#recent.size >= objectsMax && oldest !== undefined) this.forget(oldest);
    recent.idle = setTimeout(() => this.forget(name), idleMs).unref();
    this.#recent.set(name, recent);
  }
}

function isIn(at: number, { start, end }: ByteRange): boolean {
  return start <= at && at < end;
}
