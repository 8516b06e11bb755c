// An optional value as the Candid library gives it.

export type Opt<T> = [] | [T];
