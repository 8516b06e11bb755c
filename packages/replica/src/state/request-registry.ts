// The outcome of each ingress message: the part of the state under /request_status, stored for five
// minutes within a memory bound. IC spec, "State tree: Request status".

import type { Principal } from '@dfinity/principal';
import type { Outcome } from '../core.ts';
import type { HashTree } from './hash-tree.ts';
import { fromEntries, leaf } from './hash-tree.ts';
import { encodeLeb128 } from './leb128.ts';
import type { RequestTrie } from './request-trie.ts';
import { deleteRequest, setRequest, trieTree } from './request-trie.ts';

/** A finished request stays visible for this time. */
const keptNs = 300_000_000_000n;
/** Beyond this many bytes of answers the oldest are dropped, and their status becomes `done`. */
const answerBytesMax = 64 * 1_048_576;
const requestsMax = 100_000;

export interface IngressRequest {
  readonly id: Uint8Array;
  readonly sender: Principal;
  readonly canisterId: Principal;
  /** ns since 1970; until then a repeated message must not run again. */
  readonly expiresAtNs: bigint;
}

export type RequestState = { readonly status: 'received' | 'processing' | 'done' } | Outcome;

interface Entry {
  readonly request: IngressRequest;
  state: RequestState;
  keptUntilNs: bigint;
  answerBytes: number;
}

export interface RequestRegistry {
  /** Returns false, without a change, if the request is already known. */
  receive(request: IngressRequest): boolean;
  setProcessing(id: Uint8Array): void;
  complete(id: Uint8Array, outcome: Outcome): void;
  find(id: Uint8Array): (IngressRequest & { readonly state: RequestState }) | undefined;
  /** Resolves when the request is complete; at once if it is complete or unknown. */
  completion(id: Uint8Array): Promise<void>;
  /** Returns the number of requests that `completion` waits for. */
  awaited(): number;
  /** The subtree under /request_status. */
  tree(): HashTree;
  count(): number;
}

function key(id: Uint8Array): string {
  return Buffer.from(id).toString('base64');
}

function isComplete(state: RequestState): boolean {
  return state.status !== 'received' && state.status !== 'processing';
}

function stateTree(state: RequestState): HashTree {
  const status = ['status', leaf(Buffer.from(state.status))] as const;
  if (state.status === 'replied') return fromEntries([status, ['reply', leaf(state.arg)]]);
  if (state.status !== 'rejected') return fromEntries([status]);
  return fromEntries([
    status,
    ['reject_code', leaf(encodeLeb128(state.code))],
    ['reject_message', leaf(Buffer.from(state.message))],
    ['error_code', leaf(Buffer.from(state.errorCode))],
  ]);
}

function answerBytesOf(state: RequestState): number {
  if (state.status === 'replied') return state.arg.length;
  return state.status === 'rejected' ? state.message.length : 0;
}

export function createRequestRegistry(now: () => bigint): RequestRegistry {
  return new Registry(now);
}

class Registry implements RequestRegistry {
  readonly #now: () => bigint;
  readonly #entries = new Map<string, Entry>();
  readonly #waiters = new Map<string, (() => void)[]>();
  #trie: RequestTrie;
  #answerBytes = 0;

  constructor(now: () => bigint) {
    this.#now = now;
  }

  receive(request: IngressRequest): boolean {
    this.#dropExpired();
    if (this.#entries.has(key(request.id))) return false;
    const keptUntilNs = request.expiresAtNs;
    const state = { status: 'received' } as const;
    this.#entries.set(key(request.id), { request, state, keptUntilNs, answerBytes: 0 });
    this.#put(request.id, state);
    return true;
  }

  setProcessing(id: Uint8Array): void {
    this.#put(id, { status: 'processing' });
  }

  complete(id: Uint8Array, outcome: Outcome): void {
    const entry = this.#entries.get(key(id));
    if (entry === undefined || isComplete(entry.state)) return;
    this.#put(id, ownMemory(outcome));
    const keptUntilNs = this.#now() + keptNs;
    if (keptUntilNs > entry.keptUntilNs) entry.keptUntilNs = keptUntilNs;
    this.#dropAnswers();
    for (const resolve of this.#waiters.get(key(id)) ?? []) resolve();
    this.#waiters.delete(key(id));
  }

  find(id: Uint8Array): (IngressRequest & { readonly state: RequestState }) | undefined {
    this.#dropExpired();
    const entry = this.#entries.get(key(id));
    return entry === undefined ? undefined : { ...entry.request, state: entry.state };
  }

  completion(id: Uint8Array): Promise<void> {
    const entry = this.#entries.get(key(id));
    if (entry === undefined || isComplete(entry.state)) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiters.set(key(id), [...(this.#waiters.get(key(id)) ?? []), resolve]);
    });
  }

  awaited(): number {
    return this.#waiters.size;
  }

  tree(): HashTree {
    return trieTree(this.#trie);
  }

  count(): number {
    return this.#entries.size;
  }

  #put(id: Uint8Array, state: RequestState): void {
    const entry = this.#entries.get(key(id));
    if (entry === undefined) return;
    this.#answerBytes += answerBytesOf(state) - entry.answerBytes;
    entry.state = state;
    entry.answerBytes = answerBytesOf(state);
    this.#trie = setRequest(this.#trie, id, stateTree(state));
  }

  /** Entries have the order of arrival, so the first ones expire first. */
  #dropExpired(): void {
    const time = this.#now();
    for (const [entryKey, entry] of this.#entries) {
      if (!isComplete(entry.state)) continue;
      if (entry.keptUntilNs > time && this.#entries.size < requestsMax) return;
      this.#entries.delete(entryKey);
      this.#answerBytes -= entry.answerBytes;
      this.#trie = deleteRequest(this.#trie, entry.request.id);
    }
  }

  #dropAnswers(): void {
    for (const entry of this.#entries.values()) {
      if (this.#answerBytes <= answerBytesMax) return;
      if (entry.answerBytes > 0) this.#put(entry.request.id, { status: 'done' });
    }
  }
}

/** Copies a reply, because a view would retain its whole memory for minutes. */
function ownMemory(outcome: Outcome): Outcome {
  if (outcome.status !== 'replied') return outcome;
  const { arg } = outcome;
  return arg.length === arg.buffer.byteLength ? outcome : { ...outcome, arg: new Uint8Array(arg) };
}
