// `@query` and `@update` for methods that take and return Candid values: Azle's own, with cheaper
// encoding of results, and arguments that are no Candid refused by a reject that says so instead of
// a trap. A method that decodes or replies by hand says `manual: true`.

import { IDL } from '@dfinity/candid';
import { query as azleQuery, update as azleUpdate, msgArgData, msgReject, msgReply } from 'azle';
import { encodeResult } from './candid-result.ts';

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

/** The method as Azle calls it by hand: arguments in, one reply out. */
function framed(method: Method, signature: Signature): Method {
  const { result } = signature;
  return function (this: unknown): void | Promise<void> {
    const values = decodeArguments(signature);
    if (values === undefined) {
      return;
    }
    const returned = method.apply(this, values as never[]);
    if (returned instanceof Promise) {
      return returned.then((value) => msgReply(encodeResult(result, value)));
    }
    msgReply(encodeResult(result, returned as object));
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

function decorate(decorator: AzleDecorator) {
  return (parameters: IDL.Type[], result: IDL.VariantClass, options?: Options): Decorator => {
    const register = decorator(parameters, result, { manual: true });
    return (method, context) => {
      const name = String(context.name);
      const isManual = options?.manual === true;
      register(isManual ? method : framed(method, { name, parameters, result }), context);
    };
  };
}

export const query = decorate(azleQuery);
export const update = decorate(azleUpdate);
