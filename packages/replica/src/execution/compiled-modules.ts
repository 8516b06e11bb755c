// The modules that the subnet has compiled since its last checkpoint, whose next installation costs
// less. `dfinity/ic` rs/execution_environment/src/scheduler.rs, expected_compiled_wasms.

/** The network takes a checkpoint every 500 rounds, of about a second each. */
const checkpointNs = 500_000_000_000n;

export class CompiledModules {
  readonly #now: () => bigint;
  readonly #untilNs = new Map<string, bigint>();

  constructor(now: () => bigint) {
    this.#now = now;
  }

  has(sha256Hex: string): boolean {
    return (this.#untilNs.get(sha256Hex) ?? 0n) > this.#now();
  }

  /** Here each module has a whole interval, whenever it was compiled. */
  add(sha256Hex: string): void {
    const now = this.#now();
    for (const [known, until] of this.#untilNs) if (until <= now) this.#untilNs.delete(known);
    if (!this.#untilNs.has(sha256Hex)) this.#untilNs.set(sha256Hex, now + checkpointNs);
  }
}
