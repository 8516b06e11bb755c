// Converts texts to UTF-8 and back natively (kernel/text-exchange.ts): a few thousand instructions
// per text, while candidEncode() took 50,000 and String.fromCharCode.apply() 240 per byte.

import {
  createCommand,
  isKernelLinked,
  kernelCall,
  kernelOperations,
  kernelWords,
} from './kernel.ts';

/** Functions of the host that the kernel replaces to exchange texts. */
export interface TextFunctions {
  /** `debugPrint` */
  readonly give: (text: string) => void;
  /** `msgRejectMsg` */
  readonly take: () => string;
}

const headBytes = 8;
/** Longer texts are rare and are converted in another way. */
export const takenBytesMax = 16_384;
const armedWord = 0;
const lengthWord = 1;

const exchange = new Uint8Array(headBytes + takenBytesMax);
const exchangeWords = new Uint32Array(exchange.buffer, 0, 2);
const openCommand = createCommand(kernelOperations.openExchange, 1).bytes;
const decodeCommand = createCommand(kernelOperations.decodeText, 1);

let functions: TextFunctions | undefined;

/** Returns false, without a change, if there is no kernel. */
export function openTextExchange(host: TextFunctions): boolean {
  if (!isKernelLinked()) return false;
  kernelCall(openCommand);
  kernelCall(exchange);
  functions = host;
  return true;
}

/** Disables the exchange, for a host that continues with another kernel or without one. */
export function closeTextExchange(): void {
  functions = undefined;
}

export function isTextExchangeOpen(): boolean {
  return functions !== undefined;
}

/** Passes a well-formed text of up to `takenBytesMax` bytes to the kernel; returns their number. */
export function giveText(text: string): number {
  if (functions === undefined) throw new Error('openTextExchange() has not been called');
  exchangeWords[armedWord] = 1;
  functions.give(text);
  return exchangeWords[lengthWord] ?? 0;
}

/** Returns the text that an operation of the kernel has prepared. */
export function takeText(): string {
  if (functions === undefined) throw new Error('openTextExchange() has not been called');
  return functions.take();
}

/** Returns UTF-8 of a well-formed text; `undefined` if the text is too long. */
export function encodeByKernel(text: string): Uint8Array | undefined {
  const length = giveText(text);
  return length > takenBytesMax ? undefined : exchange.slice(headBytes, headBytes + length);
}

/** Returns `undefined` for malformed bytes. */
export function decodeByKernel(bytes: Uint8Array): string | undefined {
  kernelCall(decodeCommand.bytes);
  kernelCall(bytes);
  return decodeCommand.words[kernelWords.result] === 1 ? takeText() : undefined;
}

const hexCommand = createCommand(kernelOperations.hexText, 1).bytes;

/** Returns lowercase hexadecimal digits of at most 64 bytes. */
export function hexByKernel(bytes: Uint8Array): string {
  kernelCall(hexCommand);
  kernelCall(bytes);
  return takeText();
}
