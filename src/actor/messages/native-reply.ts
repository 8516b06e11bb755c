// Answers to HTTP requests that the kernel assembles and sends (kernel/http-response.ts).

import { msgReply } from 'azle';
import { createCommand, kernelCall, kernelOperations, kernelWords } from '../../crypto/kernel.ts';
import { giveText, isTextExchangeOpen, takenBytesMax } from '../../crypto/kernel-text.ts';
import { emptyBytes } from '../../lib/bytes.ts';
import { answerHead, type EncodableResponse, encodeResponse } from './bulk-messages.ts';

const command = createCommand(kernelOperations.reply, 4);
const piecesCommand = createCommand(kernelOperations.replyPieces, 2).bytes;
const apartWord = kernelWords.length;
const upgradeWord = kernelWords.longResult;
const noStrategy = Uint8Array.of(0);

/** Replies with a head and bulk bytes, without copying them together. */
export function replyBytes(head: Uint8Array, body: Uint8Array): void {
  kernelCall(piecesCommand);
  kernelCall(head);
  kernelCall(body);
}

/** Replies; `isUpgrade` asks the gateway to repeat the request as an update. */
export function replyResponse(response: EncodableResponse, isUpgrade: boolean): void {
  if (!isTextExchangeOpen() || !replyNatively(response, isUpgrade)) {
    msgReply(encodeResponse(response, isUpgrade));
  }
}

/** Returns false, without a reply, if the headers exceed the limit of the kernel. */
export function replyNatively(response: EncodableResponse, isUpgrade: boolean): boolean {
  const { status, headers, body, strategy = noStrategy } = response;
  const texts = headers.flat();
  const last = texts.at(-1);
  const apart = last instanceof Uint8Array ? last : undefined;
  if (apart !== undefined) texts.pop();
  const length = giveText(texts.join('\0').toWellFormed());
  if (length > takenBytesMax) return false;
  const { bytes, words } = command;
  words[kernelWords.selector] = status;
  words[kernelWords.offset] = headers.length;
  words[apartWord] = apart === undefined ? 0 : 1;
  words[upgradeWord] = isUpgrade ? 1 : 0;
  const value = apart ?? emptyBytes;
  kernelCall(bytes);
  kernelCall(answerHead);
  kernelCall(body);
  kernelCall(value);
  kernelCall(strategy);
  return true;
}
