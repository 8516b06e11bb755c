// HTTP requests in the form of gateways, read by the kernel and the engine's native JSON parser:
// 0.2 M instructions for ten header fields, while the reader in bulk-messages.ts takes 1.2 M.

import { createCommand, kernelCall, kernelOperations, kernelWords } from '../../crypto/kernel.ts';
import { isTextExchangeOpen, takeText } from '../../crypto/kernel-text.ts';
import type { HttpRequest } from '../../http/message.ts';
import { requestHeaderCountMax } from '../../limits.ts';

const command = createCommand(kernelOperations.readRequest, 1);

/**
 * Returns `undefined` for a malformed request, other types or an exceeded bound. The body is a view
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
