// Assertions about our own code. A failure is a defect of this program and never the caller's
// fault: the message traps, and the Internet Computer rolls it back.

export function assert(condition: boolean, what: string): asserts condition {
  if (!condition) {
    throw new Error(`Assertion failed: ${what}`);
  }
}

/** Returns a value that the surrounding logic guarantees to exist. */
export function present<T>(value: T | undefined, what: string): T {
  if (value === undefined) {
    throw new Error(`Assertion failed: ${what} is missing`);
  }
  return value;
}
