// HTTP requests as gateways send them, read by the kernel and the engine's own JSON parser: 0.2 M
// instructions for ten header fields, where the reader in bulk-messages.ts takes 1.2 M.

import { createCommand, kernelCall, kernelOperations, kernelWords } from '../../crypto/kernel.ts';
import { isTextExchangeOpen, takeText } from '../../crypto/kernel-text.ts';
import type { HttpRequest } from '../../http/message.ts';
import { requestHeaderCountMax } from '../../limits.ts';

const command = createCommand(kernelOperations.readRequest, 1);

/**
 * `undefined` for what is not well-formed, of other types, or beyond a bound; the body is a view
 * into the argument.
 */
export function readRequestNatively(
  argument: Uint8Array,
  textBytesMax: number,
): HttpRequest | undefined {
  if (!isTextExchangeOpen()) return undefined;
  const { bytes, words } = command;
  words[kernelWords.offset] = requestHeaderCountMax;
  words[kernelWords.length] = textBytesMax;
  kernelCall(bytes);
  kernelCall(argument);
  if (words[kernelWords.result] !== 1) return undefined;
  const start = words[kernelWords.offset] ?? 0;
  const length = words[kernelWords.length] ?? 0;
  const head = JSON.parse(takeText()) as Omit<HttpRequest, 'body'>;
  return { ...head, body: argument.subarray(start, start + length) };
}
