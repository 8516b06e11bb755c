// When a message is executed and its state certified: blocks of limited size, one a round, and a
// canister that executes so much in a second. Nothing ticks while nobody waits.

import type { NetworkProfile } from './profile.ts';
import { pause, type Random } from './seeded-random.ts';

interface Block {
  /** When it is made. */
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
  | 'instructionsPerSecond'
>;

export class Rounds {
  readonly #settings: RoundSettings;
  readonly #random: Random;
  readonly #nowMs: () => number;
  /** Those that are still to be made. */
  readonly #blocks: Block[] = [];
  /** When each canister has executed what it was given. */
  readonly #freeAtMs = new Map<string, number>();
  #nextTurn = 0;

  constructor(settings: RoundSettings, random: Random, nowMs = () => performance.now()) {
    this.#settings = settings;
    this.#random = random;
    this.#nowMs = nowMs;
  }

  /** Resolves when a message that has come now is to be executed. */
  async induct(canisterId: string, bytes: number): Promise<void> {
    const block = this.#blockFor(bytes);
    block.bytes += bytes;
    block.messages += 1;
    await this.#until(block.atMs + this.#settings.finalizationMs);
    // Others of the same canister may come first, and each of them makes it longer.
    for (let free = this.#freeAt(canisterId); free > this.#nowMs(); ) {
      await this.#until(free);
      free = this.#freeAt(canisterId);
    }
  }

  /** Tells what a canister has executed. */
  executed(canisterId: string, instructions: bigint): void {
    const { instructionsPerSecond } = this.#settings;
    const milliseconds = (Number(instructions) * 1_000) / instructionsPerSecond;
    const begun = Math.max(this.#nowMs(), this.#freeAt(canisterId));
    this.#freeAtMs.set(canisterId, begun + milliseconds);
  }

  /** Resolves when what the canister has executed by now is certified: with the round that it ends
   * in. */
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

  /** The first that is not made yet and has room; one that is empty takes any message. */
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

  /** On the grid of rounds, so that who comes after a silence waits for part of one. */
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
