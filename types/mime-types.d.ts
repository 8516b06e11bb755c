// The part of mime-types that is used.

declare module 'mime-types' {
  /** A media type by a file's name or extension. */
  export function lookup(nameOrExtension: string): string | false;
  /** Media types by extension. */
  export const types: Readonly<Record<string, string>>;
}
