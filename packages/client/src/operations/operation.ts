// The types of the rows in the table of operations. An operation is a method of an interface,
// `name(argument): result`. Its rows do not compile while the request, the retry rule, or a field
// that names files is missing.
//
// Fields with paths are in separate rows, which bundles for HTTP only do not contain.

import type { OperationRequest } from './operation-request.ts';

export type ArgumentOf<Operation> = Operation extends (argument: infer Argument) => unknown
  ? Argument
  : never;
export type ResultOf<Operation> = Operation extends (argument: never) => infer Result
  ? Result
  : never;

/**
 * How to treat a failed attempt whose effect is unknown: `repeat` if a repetition has the same
 * effect, `never` if it has another one, `compare` if the caller compares the stored state. The
 * error `doneIf` of a later attempt means that an earlier one succeeded.
 */
export type RetryRule<Result = unknown> =
  | 'repeat'
  | 'never'
  | 'compare'
  | (undefined extends Result ? { readonly doneIf: string } : never);

/** Fields with text that names no file. A new field must be added here or to `seals`. */
type OtherTextField =
  | 'bucket'
  | 'contentType'
  | 'cursor'
  | 'delimiter'
  | 'etag'
  | 'id'
  | 'ifMatch'
  | 'ifNoneMatch'
  | 'ifResult'
  | 'ifSourceMatch'
  | 'linkPath'
  | 'mode'
  | 'retainUntil'
  | 'sha256'
  | 'sort'
  | 'tag'
  | 'tags'
  | 'token'
  | 'uploadId';

interface Named {
  readonly path: string;
}

/** A path, the prefix of whole names, or a prefix that may end within a name. */
type TextUse = 'path' | 'folder' | 'search';

/** The file is in the operation's bucket (`target`), or possibly in another bucket (`source`). */
type FileUse = 'target' | 'source';

/** How a field of an argument is sealed. A batch is sealed by sealing-batches.ts. */
export type SealUse = TextUse | FileUse | 'batch' | 'unsupported';

type SealUseOf<Value> = Value extends string
  ? TextUse
  : Value extends readonly (string | Named)[]
    ? 'batch'
    : Value extends Named
      ? FileUse
      : never;

type TextField<Argument> = {
  [Field in keyof Argument]-?: [SealUseOf<NonNullable<Argument[Field]>>] extends [never]
    ? never
    : Field;
}[keyof Argument];

/** An argument that is a string is a bucket or an id, which is not sealed. */
type SealedField<Argument> = Argument extends string
  ? never
  : Exclude<TextField<Argument>, OtherTextField>;

/** Fields that have no sealed form. */
export type UnsupportedField = 'downloadName' | 'startAfter' | 'title';

type Seals<Argument> = {
  readonly [Field in SealedField<Argument>]: Field extends UnsupportedField
    ? 'unsupported'
    : SealUseOf<NonNullable<Argument[Field]>>;
};

/** How entries of a result are opened: in the service's order, sorted by path, or with errors. */
export type EntriesUse = 'entries' | 'sorted' | 'outcomes';

/** How paths of a result are opened: of a record, of a list of records, or of lists in fields. */
export type OpenUse = 'record' | 'records' | Readonly<Record<string, EntriesUse>>;

type EntriesField<Result> = {
  [Field in keyof Result]-?: NonNullable<Result[Field]> extends readonly Named[] ? Field : never;
}[keyof Result];

type OpenUseOf<Result> = Result extends Named
  ? 'record'
  : Result extends readonly Named[]
    ? 'records'
    : Result extends readonly unknown[] | Uint8Array | undefined
      ? never
      : [EntriesField<Result>] extends [never]
        ? never
        : { readonly [Field in EntriesField<Result>]: EntriesUse };

/** The row of an operation without a description of its HTTP request. */
export interface TransferRow<Operation> {
  readonly retry: RetryRule<ResultOf<Operation>>;
}

export interface Row<Operation> extends TransferRow<Operation> {
  /** Returns the HTTP request; throws if the argument cannot be part of a URL. */
  request(argument: ArgumentOf<Operation>): OperationRequest;
  /** Converts the JSON of the response; by default the JSON is the result. */
  read?(json: unknown, argument: ArgumentOf<Operation>): ResultOf<Operation>;
}

/** The fields with paths, for buckets that seal names. */
export type PathRow<Operation> = {
  /** The operation stores a file under a new path, which callers without the names key cannot. */
  readonly isNaming?: true;
} & ([SealedField<ArgumentOf<Operation>>] extends [never]
  ? { readonly seals?: undefined }
  : { readonly seals: Seals<ArgumentOf<Operation>> }) &
  ([OpenUseOf<ResultOf<Operation>>] extends [never]
    ? { readonly opens?: undefined }
    : { readonly opens: OpenUseOf<ResultOf<Operation>> });

export type Rows<Operations> = { readonly [Name in keyof Operations]: Row<Operations[Name]> };
export type TransferRows<Operations> = {
  readonly [Name in keyof Operations]: TransferRow<Operations[Name]>;
};
export type PathRows<Operations> = {
  readonly [Name in keyof Operations]: PathRow<Operations[Name]>;
};

/** Operations whose arguments hold several files, each of which may fail separately. */
export type BatchName<Operations> = {
  [Name in keyof Operations]: 'batch' extends Seals<ArgumentOf<Operations[Name]>>[SealedField<
    ArgumentOf<Operations[Name]>
  >]
    ? Name
    : never;
}[keyof Operations];
