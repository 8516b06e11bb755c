// The messages between subnets. Those from one subnet to another arrive in the order in which they
// were sent. `dfinity/ic` rs/messaging: one stream for each pair of subnets.

import type { StreamMessage } from '../execution/cross-subnet.ts';

/** Resolves when the receiving subnet may execute the message. */
export type Transit = (message: StreamMessage) => Promise<void>;

export interface StreamOptions {
  /** Returns a name for the pair of subnets that a message connects. */
  readonly pairOf: (message: StreamMessage) => string;
  readonly transit: Transit;
}

export class Streams {
  readonly #options: StreamOptions;
  readonly #last = new Map<string, Promise<void>>();
  #underWay = 0;

  constructor(options: StreamOptions) {
    this.#options = options;
  }

  /** Calls `deliver` after the transit, and after the messages before it. */
  send(message: StreamMessage, deliver: () => void): void {
    const { pairOf, transit } = this.#options;
    const pair = pairOf(message);
    this.#underWay += 1;
    const delivered = Promise.all([transit(message), this.#last.get(pair)]).then(() => {
      deliver();
      this.#underWay -= 1;
    });
    this.#last.set(pair, delivered);
  }

  /** Returns whether no message is under way. */
  isEmpty(): boolean {
    return this.#underWay === 0;
  }

  /** Resolves when the messages that are now under way have been delivered. */
  async delivered(): Promise<void> {
    await Promise.all(this.#last.values());
  }
}
