// The lines that one message prints, of which only as many are kept as the canister's log holds.
// `dfinity/ic` `rs/types/types/src/canister_log.rs`.

/** Bytes that a record counts besides its content: the size of CanisterLogRecord there. */
export const recordBytes = 40;

export class MessageLog {
  readonly #bytesMax: number;
  #lines: Uint8Array[] = [];
  /** Lines before this one have gone. */
  #start = 0;
  #bytes = 0;
  #dropped = 0;

  /** `bytesMax`: the canister's setting `log_memory_limit`. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** How many lines have made room for later ones. */
  get dropped(): number {
    return this.#dropped;
  }

  lines(): readonly Uint8Array[] {
    return this.#lines.slice(this.#start);
  }

  /** Keeps a copy, cut to what the log holds. */
  add(line: Uint8Array): void {
    if (this.#bytesMax <= recordBytes) return;
    const own = new Uint8Array(line.subarray(0, this.#bytesMax - recordBytes));
    this.#lines.push(own);
    this.#bytes += recordBytes + own.length;
    while (this.#bytes > this.#bytesMax) this.#drop();
    if (this.#start * 2 <= this.#lines.length) return;
    this.#lines = this.#lines.slice(this.#start);
    this.#start = 0;
  }

  #drop(): void {
    this.#bytes -= recordBytes + (this.#lines[this.#start]?.length ?? 0);
    this.#start += 1;
    this.#dropped += 1;
  }
}
