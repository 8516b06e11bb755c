// Describes the fault of an argument: its position in the names of the interface, the expected type
// and the received type. The description never contains a value, which may be a secret.

import { CandidFault, candidTypes } from '../candid/reader.ts';
import type { Message } from './argument-message.ts';

/** Units of numbers by field name. */
const units: Readonly<Record<string, string>> = {
  expiresAt: 'nanoseconds since 1970',
  keepVersionsDays: 'days',
  quotaBytes: 'bytes',
  size: 'bytes',
  chunkSize: 'bytes',
};

/** A fault of one argument; the text completes "the argument …". */
class ArgumentFault extends CandidFault {
  /** Such as `files[3].path`; '' for an argument itself. */
  readonly place: string;
  /** Such as `argument 2`; '' until it is known. */
  readonly argument: string;

  constructor(words: string, place = '', argument = '') {
    super(words);
    this.place = place;
    this.argument = argument;
  }

  /** Adds an outer step to the position: a field's name, or `[index]` of a list. */
  below(step: string): ArgumentFault {
    const { message, place } = this;
    const isJoined = place === '' || place.startsWith('[');
    return new ArgumentFault(message, isJoined ? step + place : `${step}.${place}`);
  }
}

/** The value is missing or has another type. */
class TypeMismatch extends ArgumentFault {
  readonly expected: string;
  readonly got: string | undefined;

  constructor(expected: string, got: string | undefined) {
    const words = `must be ${expected}`;
    super(got === undefined ? `is missing: it ${words}` : `${words}; got ${got}`);
    this.expected = expected;
    this.got = got;
  }

  override below(step: string): ArgumentFault {
    const unit = units[step];
    const expected = unit === undefined ? this.expected : `${this.expected} (${unit})`;
    return new ArgumentFault(new TypeMismatch(expected, this.got).message, step);
  }
}

export function missing(expected: string): CandidFault {
  return new TypeMismatch(expected, undefined);
}

/** Returns the fault of a value with that type in place of the expected one. */
export function mismatch(expected: string, { table }: Message, type: number): CandidFault {
  return new TypeMismatch(expected, typeName(table, type, 0));
}

function faultOf(error: CandidFault): ArgumentFault {
  return error instanceof ArgumentFault ? error : new ArgumentFault(error.message);
}

/** Prefixes the position of a fault with the step; returns other errors unchanged. */
export function below(step: string, error: unknown): unknown {
  return error instanceof CandidFault && step !== '' ? faultOf(error).below(step) : error;
}

/** `argument`: its name, such as `argument 2`. */
export function ofArgument(argument: string, error: unknown): unknown {
  if (!(error instanceof CandidFault)) return error;
  const { message, place } = faultOf(error);
  return new ArgumentFault(message, place, argument);
}

/** Reports a mismatch inside an option as a mismatch of the option. */
export function asOptional(error: unknown, message: Message, type: number): unknown {
  const isOwn = error instanceof TypeMismatch;
  return isOwn ? mismatch(`opt ${error.expected}`, message, type) : error;
}

/** Returns the text after the method's name; `undefined` for a fault of the whole message. */
export function explainArgument(error: CandidFault): string | undefined {
  if (!(error instanceof ArgumentFault) || error.argument === '') return undefined;
  const { argument, place, message } = error;
  return place === '' ? `${argument} ${message}` : `${argument}'s field ${place} ${message}`;
}

const plainNames = new Map([
  ...Object.entries(candidTypes).map(([name, code]) => [code, name] as const),
  [-7, 'nat32'],
  [-8, 'nat64'],
  [-9, 'int8'],
  [-10, 'int16'],
  [-11, 'int32'],
  [-12, 'int64'],
  [-13, 'float32'],
  [-14, 'float64'],
  [-17, 'empty'],
]);
/** Maximum depth of nested options and lists that errors name. */
const namedDepthMax = 3;

function typeName(table: Message['table'], type: number, depth: number): string {
  const entry = table[type];
  const name = plainNames.get(entry?.kind ?? type) ?? 'an unknown type';
  const inner = entry?.parts[0]?.[1];
  const isOuter = entry?.kind === candidTypes.opt || entry?.kind === candidTypes.vec;
  if (!isOuter || inner === undefined) return name;
  return depth < namedDepthMax ? `${name} ${typeName(table, inner, depth + 1)}` : `${name} …`;
}
