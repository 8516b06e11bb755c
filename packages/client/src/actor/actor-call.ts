// Types and helpers for operations as actor calls; a table that lacks an operation does not
// compile.

import type { Signal } from '../connection/transport.ts';
import type { ArgumentOf, ResultOf } from '../operations/operation.ts';
import { type Calls, callsOf } from '../operations/table.ts';
import type { Result } from './candid-types.ts';
import { call, type Service } from './connection.ts';

type ActorCall<Argument, Answer> = (
  service: Service,
  argument: Argument,
  signal: Signal,
) => Promise<Answer>;

export type ActorCalls<Operations> = {
  readonly [Name in keyof Operations]: ActorCall<
    ArgumentOf<Operations[Name]>,
    ResultOf<Operations[Name]>
  >;
};

/** Returns a call that makes one request and converts the `ok` of its result. */
export function calling<Argument, Ok, Answer>(
  send: (service: Service, argument: Argument) => Promise<Result<Ok>>,
  read: (ok: Ok, argument: Argument) => Answer,
): ActorCall<Argument, Answer> {
  return async (service, argument, signal) =>
    read(await call(signal, () => send(service, argument)), argument);
}

/** Converts the result of an operation that returns nothing. */
export function nothing(): undefined {
  return undefined;
}

/** A call of any operation; it is a method, so that implementations may narrow the argument. */
type AnyActorCall = {
  call(service: Service, argument: unknown, signal: Signal): Promise<unknown>;
}['call'];

export function callsWith<Operations>(
  service: Service,
  calls: Readonly<Record<keyof Operations, AnyActorCall>>,
): Calls<Operations> {
  return callsOf<Operations, AnyActorCall>(
    calls,
    (send) => (argument, signal) => send(service, argument, signal),
  );
}
