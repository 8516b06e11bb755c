// The part of Azle's interface that src/actor, src/storage/stable-map and a page use. Azle ships
// TypeScript sources, not declarations, and these do not compile under this project's stricter flags;
// the check (tsconfig.check.json) therefore reads this file in their place. The bundle uses Azle itself.

declare module 'azle' {
  import type { IDL } from '@dfinity/candid';
  import type { Principal } from '@dfinity/principal';

  export { IDL } from '@dfinity/candid';
  export { Principal } from '@dfinity/principal';

  type Method = (...args: never[]) => unknown;
  type MethodDecorator = <T extends Method>(value: T, context: ClassMethodDecoratorContext) => void;
  interface MethodOptions {
    readonly manual?: boolean;
    readonly hidden?: boolean;
  }

  export function query(
    parameters?: IDL.Type[],
    result?: IDL.Type,
    options?: MethodOptions,
  ): MethodDecorator;
  export function update(
    parameters?: IDL.Type[],
    result?: IDL.Type,
    options?: MethodOptions,
  ): MethodDecorator;
  export function init(parameters?: IDL.Type[], options?: { manual?: boolean }): MethodDecorator;
  export function postUpgrade(
    parameters?: IDL.Type[],
    options?: { manual?: boolean },
  ): MethodDecorator;
  export function inspectMessage(options?: { manual?: boolean }): MethodDecorator;

  export interface Serializable {
    toBytes: (data: Uint8Array) => Uint8Array;
    fromBytes: (bytes: Uint8Array) => Uint8Array;
  }
  export class StableBTreeMap<Key, Value> {
    constructor(memoryId: number, key?: Serializable, value?: Serializable);
    containsKey(key: Key): boolean;
    get(key: Key): Value | undefined;
    insert(key: Key, value: Value): Value | undefined;
    isEmpty(): boolean;
    items(startIndex?: number, length?: number): [Key, Value][];
    keys(startIndex?: number, length?: number): Key[];
    len(): number;
    remove(key: Key): Value | undefined;
  }

  export function call<Args, Return>(
    canisterId: Principal | string,
    method: string,
    options?: {
      paramIdlTypes?: IDL.Type[];
      returnIdlType?: IDL.Type;
      args?: Args;
      cycles?: bigint;
      raw?: boolean;
    },
  ): Promise<Return>;
  export function canisterCycleBalance(): bigint;
  export function clearTimer(timerId: bigint): void;
  export function canisterSelf(): Principal;
  export function msgMethodName(): string;
  export function candidEncode(text: string): Uint8Array;
  export function certifiedDataSet(data: Uint8Array): void;
  export function dataCertificate(): Uint8Array | undefined;
  export function isController(principal: Principal): boolean;
  export function msgArgData(): Uint8Array;
  export function msgCaller(): Principal;
  export function msgReject(message: string): void;
  export function msgReply(reply: Uint8Array): void;
  export function setTimer(delaySeconds: number, callback: () => void | Promise<void>): bigint;
  export function randSeed(seed: Uint8Array): void;
  export function setTimerInterval(
    intervalSeconds: number,
    callback: () => void | Promise<void>,
  ): bigint;
  export function time(): bigint;
  export function trap(message: string): never;
}

/** Azle's functions as its native side has them. */
declare var _azleIc:
  | {
      readonly certifiedDataSet: (bytes: Uint8Array) => void;
      readonly dataCertificate: () => Uint8Array | undefined;
      readonly debugPrint: (text: string) => void;
      readonly isController: (principal: Uint8Array) => boolean;
      readonly msgArgData: () => Uint8Array;
      readonly msgCaller: () => Uint8Array;
      readonly time: () => bigint;
      readonly msgRejectMsg: () => string;
      readonly stableBTreeMapContainsKey: (memoryId: number, key: Uint8Array) => boolean;
      readonly stableBTreeMapGet: (memoryId: number, key: Uint8Array) => Uint8Array | undefined;
      readonly stableBTreeMapInsert: (
        memoryId: number,
        key: Uint8Array,
        value: Uint8Array,
      ) => Uint8Array | undefined;
      readonly stableBTreeMapRemove: (memoryId: number, key: Uint8Array) => Uint8Array | undefined;
    }
  | undefined;
