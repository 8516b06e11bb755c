// The contexts in which an `ic0` function may be called: the letters of the specification and the
// network's names in its errors. IC spec, "Overview of imports".

import type { EntryKind } from '../core.ts';

export const contexts = [
  's',
  'I',
  'G',
  'U',
  'RQ',
  'NRQ',
  'TQ',
  'CQ',
  'Ry',
  'Rt',
  'CRy',
  'CRt',
  'C',
  'CC',
  'F',
  'T',
] as const;

export type Context = (typeof contexts)[number];

const modes: Readonly<Record<Context, string>> = {
  s: 'start',
  I: 'init',
  G: 'pre upgrade',
  U: 'update',
  RQ: 'replicated query',
  NRQ: 'non replicated query',
  TQ: 'transform query',
  CQ: 'composite query',
  Ry: 'reply callback',
  Rt: 'reject callback',
  CRy: 'composite reply callback',
  CRt: 'composite reject callback',
  C: 'cleanup callback',
  CC: 'composite cleanup callback',
  F: 'inspect message',
  T: 'system task',
};

export function modeName(context: Context): string {
  return modes[context];
}

const kinds: Readonly<Record<Context, EntryKind>> = {
  s: 'start',
  I: 'init',
  G: 'preUpgrade',
  U: 'update',
  RQ: 'replicatedQuery',
  NRQ: 'query',
  TQ: 'query',
  CQ: 'compositeQuery',
  Ry: 'reply',
  Rt: 'reject',
  CRy: 'reply',
  CRt: 'reject',
  C: 'cleanup',
  CC: 'cleanup',
  F: 'inspect',
  T: 'timer',
};

export function entryKind(context: Context): EntryKind {
  return kinds[context];
}

const nonReplicated: ReadonlySet<Context> = new Set(['NRQ', 'TQ', 'CQ', 'CRy', 'CRt', 'CC', 'F']);

/** Returns whether the execution is replicated: only that changes state. */
export function isReplicated(context: Context): boolean {
  return !nonReplicated.has(context);
}

/** Parses `"* s"` or `"I G U"`; `*` is every context except `s`. */
export function parseContexts(text: string): ReadonlySet<Context> {
  const set = new Set<Context>();
  for (const word of text.split(' ')) {
    for (const context of contexts) {
      if (word === context || (word === '*' && context !== 's')) set.add(context);
    }
  }
  return set;
}
