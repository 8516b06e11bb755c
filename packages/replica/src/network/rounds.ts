// Decides when a message is executed and its state certified: blocks of limited size, one per
// round, and a canister with a limited number of instructions per second. No timer runs while
// nobody waits.

import type { NetworkProfile } from './profile.ts';
import { pause, type Random } from './seeded-random.ts';

interface Block {
  readonly atMs: number;
  bytes: number;
  messages: number;
}

export type RoundSettings = Pick<
  NetworkProfile,
  | 'roundMs'
  | 'roundJitterMs'
  | 'finalizationMs'
  | 'certificationMs'
  | 'blockBytesMax'
  | 'blockMessagesMax'
  | 'poolBytesMax'
  | 'poolMessagesMax'
  | 'instructionsPerSecond'
>;

export class Rounds {
  readonly #settings: RoundSettings;
  readonly #random: Random;
  readonly #nowMs: () => number;
  readonly #blocks: Block[] = [];
  /** Time at which each canister will have executed its messages. */
  readonly #freeAtMs = new Map<string, number>();
  readonly #waiting = { bytes: 0, messages: 0 };
  #nextTurn = 0;

  constructor(settings: RoundSettings, random: Random, nowMs = () => performance.now()) {
    this.#settings = settings;
    this.#random = random;
    this.#nowMs = nowMs;
  }

  /**
   * Returns whether too many messages wait to be executed. `dfinity/ic`
   * rs/artifact_pool/src/ingress_pool.rs, exceeds_limit.
   */
  isFull(): boolean {
    const { poolBytesMax, poolMessagesMax } = this.#settings;
    return this.#waiting.bytes > poolBytesMax || this.#waiting.messages > poolMessagesMax;
  }

  /** Resolves when a message that arrives now is to be executed. */
  async induct(canisterId: string, bytes: number): Promise<void> {
    this.#waiting.bytes += bytes;
    this.#waiting.messages += 1;
    try {
      await this.#turn(canisterId, bytes);
    } finally {
      this.#waiting.bytes -= bytes;
      this.#waiting.messages -= 1;
    }
  }

  async #turn(canisterId: string, bytes: number): Promise<void> {
    const block = this.#blockFor(bytes);
    block.bytes += bytes;
    block.messages += 1;
    await this.#until(block.atMs + this.#settings.finalizationMs);
    // Other messages of the same canister may come first and extend the wait.
    for (let free = this.#freeAt(canisterId); free > this.#nowMs(); ) {
      await this.#until(free);
      free = this.#freeAt(canisterId);
    }
  }

  executed(canisterId: string, instructions: bigint): void {
    const { instructionsPerSecond } = this.#settings;
    const milliseconds = (Number(instructions) * 1_000) / instructionsPerSecond;
    const begun = Math.max(this.#nowMs(), this.#freeAt(canisterId));
    this.#freeAtMs.set(canisterId, begun + milliseconds);
  }

  /** Resolves when the canister's executed messages are certified, at the end of their round. */
  async certified(canisterId: string): Promise<void> {
    const { roundMs, certificationMs } = this.#settings;
    const now = this.#nowMs();
    const rest = Math.max(0, this.#freeAt(canisterId) - now);
    const furtherRounds = Math.floor(rest / roundMs);
    await this.#until(now + furtherRounds * roundMs + certificationMs);
  }

  #freeAt(canisterId: string): number {
    return this.#freeAtMs.get(canisterId) ?? 0;
  }

  /** Returns the first future block with space; an empty one accepts any message. */
  #blockFor(bytes: number): Block {
    const { blockBytesMax, blockMessagesMax } = this.#settings;
    const now = this.#nowMs();
    while (this.#blocks[0] !== undefined && this.#blocks[0].atMs <= now) this.#blocks.shift();
    for (let index = 0; ; index += 1) {
      const block = this.#blocks[index] ?? this.#addBlock(now);
      const hasRoom = block.bytes + bytes <= blockBytesMax && block.messages < blockMessagesMax;
      if (hasRoom || block.messages === 0) return block;
    }
  }

  /** Adds a block aligned to the rounds, so that a message after a pause waits part of a round. */
  #addBlock(now: number): Block {
    const { roundMs, roundJitterMs } = this.#settings;
    const turn = Math.max(this.#nextTurn, Math.floor(now / roundMs) + 1);
    this.#nextTurn = turn + 1;
    const jitter = (2 * this.#random() - 1) * roundJitterMs;
    const block = { atMs: Math.max(now, turn * roundMs + jitter), bytes: 0, messages: 0 };
    this.#blocks.push(block);
    return block;
  }

  #until(atMs: number): Promise<void> {
    return pause(Math.max(0, atMs - this.#nowMs()));
  }
}
