// Measures the instructions of refused messages with the meter: every hostile argument for every
// method, in each way of calling it. Shared by the bench and the tests.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import type { MessageReport } from '../../packages/replica/src/core.ts';
import type { Replica } from '../../packages/replica/src/replica.ts';
import { installForwarder } from './forwarder/forwarder.ts';
import { type HonestTexts, hostileArguments } from './hostile-arguments.ts';
import { encodeCancellation, hostileRequests } from './hostile-requests.ts';
import { isSentUpdate } from './method-reports.ts';
import { type DidMethod, readInterface } from './model-interface.ts';

export type Way = 'ingress' | 'another canister' | 'query';

export interface Refusal {
  readonly way: Way;
  readonly method: string;
  /** The method and the argument. */
  readonly name: string;
  readonly instructions: number;
  /** Cycles of the execution only; 0 for queries. */
  readonly cycles: number;
  readonly milliseconds: number;
  /** The text of the trap, if there was one. */
  readonly trap: string | undefined;
  readonly stablePages: number;
  /** Whether an update was executed. */
  readonly isUpdate: boolean;
  /** Whether the argument contains the honest API key, which gives a right. */
  readonly hasKey: boolean;
  /** The error that the method returned. */
  readonly err: string | undefined;
  /** The text of the reject, if there was one. */
  readonly reject: string | undefined;
}

export interface RefusalTarget {
  readonly replica: Replica;
  readonly canisterId: string;
  /** `replica` appends the reports of all messages. */
  readonly reports: readonly MessageReport[];
  readonly honest: HonestTexts;
  /** The demo bucket's owner, who ends begun uploads to make space for more. */
  readonly owner: Principal;
  /** Selects the arguments to send; by default all. */
  readonly isTried?: (method: string, name: string) => boolean;
}

interface Attempt {
  readonly way: Way;
  readonly method: DidMethod;
  readonly argument: Uint8Array;
}

/** Maximum bytes of a call between canisters; a longer call fails at its caller. */
const canisterCallBytesMax = 2_097_152;

/** An identity that anybody could create. */
export const stranger = Principal.fromUint8Array(new Uint8Array(29).fill(5));

export function interfaceMethods(): DidMethod[] {
  return readInterface({ texts: ['a'], principals: [Principal.anonymous()] });
}

/** Returns the refused calls and their cost, without calls that were accepted. */
export async function measureRefusals(target: RefusalTarget): Promise<Refusal[]> {
  const send = await senderTo(target);
  const refusals: Refusal[] = [];
  for (const method of interfaceMethods()) {
    const list = hostileArguments(method, target.honest);
    if (method.name.startsWith('http_')) list.push(...hostileRequests(target.honest));
    const ways: Way[] = method.isQuery
      ? ['query', 'another canister']
      : ['ingress', 'another canister'];
    for (const { name, argument } of list) {
      if (target.isTried?.(method.name, name) === false) continue;
      const bytes = argument();
      const hasKey = Buffer.from(bytes).includes(target.honest.apiKey);
      for (const way of ways) {
        if (way === 'another canister' && bytes.length > canisterCallBytesMax) continue;
        const first = target.reports.length;
        const answer = await send({ way, method, argument: bytes });
        if (answer.isDone) {
          await cancelBegun(target, method.name, answer.begun);
          continue;
        }
        const own = target.reports.slice(first).filter(({ canisterId, kind }) => {
          return canisterId === target.canisterId && kind !== 'inspect';
        });
        refusals.push({
          way,
          method: method.name,
          name,
          reject: answer.reject,
          instructions: own.reduce((sum, report) => sum + Number(report.instructions), 0),
          cycles: own.reduce((sum, report) => sum + Number(report.cycles), 0),
          milliseconds: own.reduce((sum, report) => sum + report.milliseconds, 0),
          stablePages: own.reduce((sum, report) => sum + report.stablePages, 0),
          isUpdate: own.some(isSentUpdate),
          hasKey,
          err: answer.err,
          trap: own.find(({ error }) => error !== undefined)?.error,
        });
      }
    }
  }
  return refusals;
}

interface Answer {
  readonly isDone: boolean;
  readonly reject: string | undefined;
  readonly err?: string | undefined;
  /** The id of the session that the call began, if it began one. */
  readonly begun: string | undefined;
}

/** Cancels a begun upload in the same way: over HTTP with the key, else as the owner. */
async function cancelBegun(
  target: RefusalTarget,
  method: string,
  uploadId: string | undefined,
): Promise<void> {
  if (uploadId === undefined) return;
  if (method.startsWith('http_')) {
    const cancellation = encodeCancellation(target.honest.apiKey, uploadId);
    await target.replica.call(target.canisterId, 'http_request_update', cancellation);
    return;
  }
  const argument = IDL.encode([IDL.Text], [uploadId]);
  await target.replica.call(target.canisterId, 'cancelUpload', argument, { sender: target.owner });
}

async function senderTo({ replica, canisterId }: RefusalTarget) {
  const forwarder = await installForwarder(replica);
  const ways: Record<Way, (method: string, argument: Uint8Array) => Promise<Uint8Array>> = {
    ingress: (method, argument) => replica.call(canisterId, method, argument, { sender: stranger }),
    query: (method, argument) => replica.query(canisterId, method, argument, { sender: stranger }),
    'another canister': (method, argument) => forwarder.call(canisterId, method, argument),
  };
  return async ({ way, method, argument }: Attempt): Promise<Answer> => {
    try {
      const reply = await ways[way](method.name, argument);
      const [result] = IDL.decode(method.results, reply) as [object | string];
      // A text, such as that of getApiDoc, which has no errors
      if (typeof result === 'string') return { isDone: true, reject: undefined, begun: undefined };
      const err = 'err' in result ? String(result.err) : undefined;
      const begun = begunBy(method.name, result);
      return { isDone: isDone(result), reject: undefined, err, begun };
    } catch (error) {
      return { isDone: false, reject: (error as Error).message, begun: undefined };
    }
  };
}

function begunBy(method: string, result: object): string | undefined {
  if (method.startsWith('beginFileUpload') && 'ok' in result) return String(result.ok);
  if (!('status_code' in result) || result.status_code !== 201) return undefined;
  const { body } = result as unknown as { readonly body: Uint8Array };
  return (JSON.parse(Buffer.from(body).toString()) as { uploadId?: string }).uploadId;
}

function isDone(result: object): boolean {
  if (!('status_code' in result)) return 'ok' in result;
  const isUpgrade = 'upgrade' in result && (result.upgrade as boolean[])[0] === true;
  return !isUpgrade && Number(result.status_code) < 400;
}

export function mostExpensive(refusals: readonly Refusal[], way: Way): Refusal | undefined {
  const own = refusals.filter((refusal) => refusal.way === way);
  return own.toSorted((left, right) => right.instructions - left.instructions)[0];
}
