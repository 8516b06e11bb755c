// The thread that verifies large answers: one message in, one out.

import { parentPort } from 'node:worker_threads';
import { Principal } from '@dfinity/principal';
import type { HeaderField } from './http-messages.ts';
import { type VerificationInput, verifyAnswer } from './verify-answer.ts';

/** The input of verifyAnswer(), without class instances, which messages cannot carry. */
export interface Question extends Omit<VerificationInput, 'canisterId'> {
  readonly id: number;
  readonly canisterId: Uint8Array;
}

export type Verdict =
  | { readonly id: number; readonly headers: readonly HeaderField[]; readonly body: Uint8Array }
  | { readonly id: number; readonly refusal: string };

function verdictOn({ id, canisterId, ...input }: Question): Verdict {
  try {
    const headers = verifyAnswer({ ...input, canisterId: Principal.fromUint8Array(canisterId) });
    return { id, headers, body: input.answer.body };
  } catch (error) {
    return { id, refusal: error instanceof Error ? error.message : String(error) };
  }
}

parentPort?.on('message', (question: Question) => {
  const verdict = verdictOn(question);
  parentPort?.postMessage(verdict, 'body' in verdict ? [verdict.body.buffer as ArrayBuffer] : []);
});
