// `@query` and `@update` for methods that take and return Candid values: Azle's own, with cheaper
// encoding of results, and arguments that are no Candid refused by a reject that says so instead of
// a trap. Updates wait for keys, if need be, before they begin. A method that decodes or replies by
// hand says `manual: true`, and then waits by itself.

import { IDL } from '@dfinity/candid';
import { query as azleQuery, update as azleUpdate, msgArgData, msgReject, msgReply } from 'azle';
import { encodeResult } from './candid-result.ts';
import { onceReady } from './runtime.ts';

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

/** When a message goes on whose arguments are decoded. */
type Schedule = (run: () => void) => void | Promise<void>;

/** The method as Azle calls it by hand: arguments in, one reply out. */
function framed(method: Method, signature: Signature, schedule: Schedule): Method {
  return function (this: unknown): void | Promise<void> {
    const values = decodeArguments(signature);
    return (
      values &&
      schedule(() => {
        const returned = method.apply(this, values as never[]);
        msgReply(encodeResult(signature.result, returned as object));
      })
    );
  };
}

/** `undefined` when the message has been rejected. */
export function decodeArguments(
  { name, parameters }: Pick<Signature, 'name' | 'parameters'>,
  decode: (argument: Uint8Array) => unknown[] = (argument) => IDL.decode(parameters, argument),
): unknown[] | undefined {
  try {
    return decode(msgArgData());
  } catch (error) {
    const expected = parameters.map((type) => type.display()).join(', ');
    const reason = error instanceof Error ? error.message : String(error);
    msgReject(`${name} takes (${expected}) in Candid; cannot decode it: ${reason}`);
    return undefined;
  }
}

function decorate(decorator: AzleDecorator, schedule: Schedule) {
  return (parameters: IDL.Type[], result: IDL.VariantClass, options?: Options): Decorator => {
    const register = decorator(parameters, result, { manual: true });
    return (method, context) => {
      const name = String(context.name);
      const isManual = options?.manual === true;
      register(isManual ? method : framed(method, { name, parameters, result }, schedule), context);
    };
  };
}

export const query = decorate(azleQuery, (run) => run());
export const update = decorate(azleUpdate, onceReady);
