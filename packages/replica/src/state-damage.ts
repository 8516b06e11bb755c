// The error of a state folder that cannot be read as it was written.

/** The message names the damage and the remedy. */
export class StateDamage extends Error {
  override readonly name = 'StateDamage';
}
