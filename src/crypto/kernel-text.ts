// Texts to UTF-8 and back by native code (kernel/text-exchange.ts): a few thousand instructions a
// text, where a candidEncode() took 50,000 and String.fromCharCode.apply() 240 a byte.

import {
  createCommand,
  isKernelLinked,
  kernelCall,
  kernelOperations,
  kernelWords,
} from './kernel.ts';

/** Functions of the host in whose place the kernel takes and gives texts. */
export interface TextFunctions {
  /** `debugPrint` */
  readonly give: (text: string) => void;
  /** `msgRejectMsg` */
  readonly take: () => string;
}

const headBytes = 8;
/** Longer ones are rare, and go another way. */
export const takenBytesMax = 16_384;
const armedWord = 0;
const lengthWord = 1;

const exchange = new Uint8Array(headBytes + takenBytesMax);
const exchangeWords = new Uint32Array(exchange.buffer, 0, 2);
const openCommand = createCommand(kernelOperations.openExchange, 1).bytes;
const decodeCommand = createCommand(kernelOperations.decodeText, 1);

let functions: TextFunctions | undefined;

/** False, and nothing done, where there is no kernel. */
export function openTextExchange(host: TextFunctions): boolean {
  if (!isKernelLinked()) return false;
  kernelCall(openCommand);
  kernelCall(exchange);
  functions = host;
  return true;
}

/** For a host that goes on with another kernel, or with none. */
export function closeTextExchange(): void {
  functions = undefined;
}

export function isTextExchangeOpen(): boolean {
  return functions !== undefined;
}

/** Has the kernel take a well-formed text: its bytes of UTF-8. It holds `takenBytesMax` of them. */
export function giveText(text: string): number {
  if (functions === undefined) throw new Error('openTextExchange() has not been called');
  exchangeWords[armedWord] = 1;
  functions.give(text);
  return exchangeWords[lengthWord] ?? 0;
}

/** The text that an operation of the kernel has laid ready. */
export function takeText(): string {
  if (functions === undefined) throw new Error('openTextExchange() has not been called');
  return functions.take();
}

/** UTF-8 of a well-formed text; `undefined` when it is too long for this way. */
export function encodeByKernel(text: string): Uint8Array | undefined {
  const length = giveText(text);
  return length > takenBytesMax ? undefined : exchange.slice(headBytes, headBytes + length);
}

/** `undefined` when the bytes are malformed. */
export function decodeByKernel(bytes: Uint8Array): string | undefined {
  kernelCall(decodeCommand.bytes);
  kernelCall(bytes);
  return decodeCommand.words[kernelWords.result] === 1 ? takeText() : undefined;
}

const hexCommand = createCommand(kernelOperations.hexText, 1).bytes;

/** Two digits a byte, in lower case; of 64 bytes at most. */
export function hexByKernel(bytes: Uint8Array): string {
  kernelCall(hexCommand);
  kernelCall(bytes);
  return takeText();
}
