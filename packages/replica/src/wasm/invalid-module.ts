// The one error of this folder: a module that cannot be installed, with a message for its author.

export class InvalidModule extends Error {
  override readonly name = 'InvalidModule';
}
