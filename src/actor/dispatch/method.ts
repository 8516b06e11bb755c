// `@query` and `@update` for methods with Candid arguments and results. They wrap Azle's
// decorators, decode arguments within the method's bounds and encode results cheaply. A message
// that cannot be decoded gets a reject that says so, whoever sent it. Updates wait for keys before
// they begin. A method that decodes or replies by hand sets `manual: true` and waits by itself.

import type { IDL } from '@dfinity/candid';
import { query as azleQuery, update as azleUpdate, msgReject, msgReply } from 'azle';
import type { KeyCharge } from '../../domain/shared/caller.ts';
import { areCyclesLow, requireCycles } from '../../domain/shared/cycles.ts';
import { refuseAtFront } from '../../domain/shared/role-record.ts';
import { spendableCycles } from '../../storage/stable-space.ts';
import { CandidFault } from '../candid/reader.ts';
import { encodeResult } from '../candid/result.ts';
import {
  type ArgumentBounds,
  decodeWithin,
  type Plan,
  planOf,
} from '../messages/argument-decoder.ts';
import { explainArgument } from '../messages/argument-faults.ts';
import { answer, asUpdate, currentCall, type Result } from '../runtime/call.ts';
import { onceReady, stores } from '../runtime/runtime.ts';
import { msgArgData } from '../runtime/system.ts';
import { methodTable } from './method-table.ts';
import { countRefusal } from './refused-calls.ts';

type Method = (...values: never[]) => unknown;
type Decorator = <T extends Method>(method: T, context: ClassMethodDecoratorContext) => void;
type AzleDecorator = typeof azleQuery;

interface Options {
  readonly manual: true;
}

interface Signature {
  readonly name: string;
  readonly parameters: IDL.Type[];
  readonly result: IDL.VariantClass;
}

/** The frame around a method: when it runs, and which budgets pay for it. */
interface Frame {
  readonly schedule: (run: () => void | Promise<void>) => void | Promise<void>;
  readonly run: typeof asUpdate;
  readonly countRefusal: typeof countRefusal;
}

/** Plans of the arguments by method name. */
const plans = new Map<string, readonly Plan[]>();

/** Returns the method in Azle's manual form, which decodes the arguments and replies by itself. */
function framed(method: Method, signature: Signature, frame: Frame): Method {
  const { schedule, run, countRefusal } = frame;
  return function (this: unknown): void | Promise<void> {
    const { name, result: type } = signature;
    const message = decodeMessage<unknown[]>(signature);
    if (message === undefined) return;
    const { values, charge } = message;
    return schedule(() => {
      const reply = (result: unknown) => {
        countRefusal({ method: name, charge }, result as object);
        msgReply(encodeResult(type, result as object));
      };
      const refused = answer(() => {
        refuseWhereAbsent(name);
        run(charge, () => refuseWhileLow(name, values));
      });
      if ('err' in refused) return reply(refused);
      const returned = run(charge, () => method.apply(this, values as never[]));
      return returned instanceof Promise ? returned.then(reply) : reply(returned);
    });
  };
}

/** At a front, refuses a method that only volumes have. */
function refuseWhereAbsent(name: string): void {
  if (methodTable[name]?.isAtFront !== true) refuseAtFront(stores);
}

/** Refuses an upload while cycles are low, after its row has checked the caller's right. */
function refuseWhileLow(name: string, values: readonly unknown[]): void {
  const row = methodTable[name];
  if (row?.isUpload !== true || !areCyclesLow(spendableCycles())) return;
  row.admit?.({ stores, call: currentCall() }, ...(values as never[]));
  requireCycles(spendableCycles());
}

/** Runs a `manual` update: decodes the message, runs once keys are available, and replies. */
export function carryOut<T, R>(
  signature: Pick<Signature, 'name' | 'parameters'>,
  steps: {
    /** Replaces the plain decoding, which returns a list of arguments. */
    readonly decode?: Decode<T>;
    readonly run: (values: T) => R;
    readonly encode: (result: Result<R>) => Uint8Array;
  },
): void | Promise<void> {
  const message = decodeMessage(signature, steps.decode);
  if (message === undefined) return;
  const { values, charge } = message;
  return onceReady(() => {
    const result = answer(() => {
      refuseWhereAbsent(signature.name);
      return asUpdate(charge, () => {
        refuseWhileLow(signature.name, steps.decode === undefined ? (values as []) : [values]);
        return steps.run(values);
      });
    });
    countRefusal({ method: signature.name, charge }, result);
    msgReply(steps.encode(result));
  });
}

/** Decodes the arguments of a method within its bounds. Throws a CandidFault. */
export function decodeCall(name: string, argument: Uint8Array): unknown[] {
  const plan = plans.get(name);
  if (plan === undefined) {
    throw new CandidFault('is for a method that does not exist');
  }
  return decodeWithin(plan, argument, boundsOf(name));
}

function boundsOf(name: string): ArgumentBounds {
  const row = methodTable[name];
  if (row === undefined) {
    throw new CandidFault('is for a method without a row in src/actor/dispatch/method-table.ts');
  }
  return row.bounds;
}

type Decode<T> = (argument: Uint8Array, bounds: ArgumentBounds) => T;

/** Returns the arguments, or `undefined` after rejecting the message. */
export function decodeArguments<T = unknown[]>(
  signature: Pick<Signature, 'name' | 'parameters'>,
  decode?: Decode<T>,
): T | undefined {
  return decodeMessage(signature, decode)?.values;
}

/** Returns `undefined` after rejecting the message. */
function decodeMessage<T>(
  { name, parameters }: Pick<Signature, 'name' | 'parameters'>,
  decode?: Decode<T>,
): { readonly values: T; readonly charge: KeyCharge } | undefined {
  try {
    const argument = msgArgData();
    const values =
      decode === undefined ? (decodeCall(name, argument) as T) : decode(argument, boundsOf(name));
    return { values, charge: { bytes: argument.length, isInspected: false } };
  } catch (error) {
    if (!(error instanceof CandidFault)) throw error;
    const argument = explainArgument(error);
    const expected = parameters.map((type) => type.display()).join(', ');
    msgReject(
      argument === undefined
        ? `${name} takes (${expected}) in Candid; cannot decode it: the message ${error.message}`
        : `${name}: ${argument}.`,
    );
    return undefined;
  }
}

function decorate(decorator: AzleDecorator, frame: Frame) {
  return (parameters: IDL.Type[], answered: IDL.Type, options?: Options): Decorator => {
    const register = decorator(parameters, answered, { manual: true });
    // Results that the method does not encode itself come from resultOf().
    const result = answered as IDL.VariantClass;
    return (method, context) => {
      const name = String(context.name);
      plans.set(name, parameters.map(planOf));
      const isManual = options?.manual === true;
      register(isManual ? method : framed(method, { name, parameters, result }, frame), context);
    };
  };
}

export const query = decorate(azleQuery, {
  schedule: (run) => run(),
  run: (_, run) => run(),
  countRefusal: () => undefined,
});
export const update = decorate(azleUpdate, { schedule: onceReady, run: asUpdate, countRefusal });
