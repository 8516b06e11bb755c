// The error of a state folder that can't be read as it was written.

/** The message says what is damaged, and what can be done. */
export class StateDamage extends Error {
  override readonly name = 'StateDamage';
}
