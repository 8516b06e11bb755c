// The lines that one message prints: the newest that fit into the log (`dfinity/ic`
// `canister_log.rs`).

/** Bytes that count for a record besides its content: the network's size of CanisterLogRecord. */
export const recordBytes = 40;

export class MessageLog {
  readonly #bytesMax: number;
  #lines: Uint8Array[] = [];
  #start = 0;
  #bytes = 0;
  #dropped = 0;

  /** `bytesMax`: the canister's setting `log_memory_limit`. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get dropped(): number {
    return this.#dropped;
  }

  lines(): readonly Uint8Array[] {
    return this.#lines.slice(this.#start);
  }

  /** Adds a copy of the line, truncated to the size of the log. */
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
