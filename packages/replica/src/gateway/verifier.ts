// Verifies large answers in a thread, because hashing and pairing take longer than the canister's
// answer took. One thread per process, started on demand; small answers are verified directly.

import { Worker } from 'node:worker_threads';
import { GatewayError } from './gateway-error.ts';
import type { HeaderField, HttpRequest } from './http-messages.ts';
import type { Question, Verdict } from './verifier-thread.ts';
import { type VerifiableAnswer, type VerificationInput, verifyAnswer } from './verify-answer.ts';

const threadBytesMin = 262_144;

export interface VerifiedAnswer {
  readonly headers: readonly HeaderField[];
  readonly body: Uint8Array;
}

/** Rejects with a GatewayError if the answer cannot be trusted. */
export type Verify = (request: HttpRequest, answer: VerifiableAnswer) => Promise<VerifiedAnswer>;

interface Waiting {
  resolve(answer: VerifiedAnswer): void;
  reject(error: Error): void;
}

interface Thread {
  readonly worker: Worker;
  readonly waiting: Map<number, Waiting>;
}

let thread: Thread | undefined;
let questions = 0;

/** Like verifyAnswer(), but takes over a large body's memory, which must have no other owner. */
export async function verifyBeside(input: VerificationInput): Promise<VerifiedAnswer> {
  const { answer } = input;
  if (answer.body.length < threadBytesMin) {
    return { headers: verifyAnswer(input), body: answer.body };
  }
  thread ??= startThread();
  const { worker, waiting } = thread;
  const id = questions++;
  const question: Question = { ...input, id, canisterId: input.canisterId.toUint8Array() };
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    worker.ref();
    worker.postMessage(question, [answer.body.buffer as ArrayBuffer]);
  });
}

function startThread(): Thread {
  // Without the options of the process, because the file registers its own loader.
  const worker = new Worker(new URL('./verifier-thread.js', import.meta.url), { execArgv: [] });
  const waiting = new Map<number, Waiting>();
  const started = { worker, waiting };
  worker.on('message', (verdict: Verdict) => {
    settle(waiting.get(verdict.id), verdict);
    waiting.delete(verdict.id);
    if (waiting.size === 0) worker.unref();
  });
  const fail = (error: Error) => {
    // An error is followed by the exit; between them, another thread may have been started.
    if (thread === started) thread = undefined;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  worker.on('error', fail);
  worker.on('exit', () => fail(new Error('the verifier thread has ended')));
  return started;
}

function settle(waiting: Waiting | undefined, verdict: Verdict): void {
  if ('refusal' in verdict) {
    waiting?.reject(new GatewayError('ResponseVerificationFailed', verdict.refusal));
  } else {
    waiting?.resolve({ headers: verdict.headers, body: verdict.body });
  }
}
