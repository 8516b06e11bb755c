// Values that a call may leave out, as Candid has them: none or one in a list.

import { withoutSlash } from '../../domain/shared/names.ts';

export type Optional<T> = [] | [T];

export function optional<T>(value: T | null | undefined): Optional<T> {
  return value === undefined || value === null ? [] : [value];
}

export function numberOf([value]: Optional<bigint>): number | undefined {
  return value === undefined ? undefined : Number(value);
}

/** A prefix may be written with the slash that paths may be written with. */
export function prefixOf([prefix]: Optional<string>): string | undefined {
  return prefix === undefined ? undefined : withoutSlash(prefix);
}
