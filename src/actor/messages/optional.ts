// Optional values in Candid's form: a list with no or one item.

import { withoutSlash } from '../../domain/shared/names.ts';

export type Optional<T> = [] | [T];

export function optional<T>(value: T | null | undefined): Optional<T> {
  return value === undefined || value === null ? [] : [value];
}

export function numberOf([value]: Optional<bigint>): number | undefined {
  return value === undefined ? undefined : Number(value);
}

/** Removes a leading slash from the prefix: it is optional, as in paths. */
export function prefixOf([prefix]: Optional<string>): string | undefined {
  return prefix === undefined ? undefined : withoutSlash(prefix);
}
