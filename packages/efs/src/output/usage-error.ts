// What the caller of the command got wrong on its line.

export class UsageError extends Error {
  override readonly name = 'UsageError';
}
