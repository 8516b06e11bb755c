// An optional value in the Candid library's form.

export type Opt<T> = [] | [T];
