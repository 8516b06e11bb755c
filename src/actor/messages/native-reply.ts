// Answers to HTTP requests, put together and sent by the kernel (kernel/http-response.ts).

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

/** Replies with bulk bytes behind what stands before them, which are not copied together. */
export function replyBytes(head: Uint8Array, body: Uint8Array): void {
  kernelCall(piecesCommand);
  kernelCall(head);
  kernelCall(body);
}

/** Replies; `isUpgrade` asks the gateway to call again as an update. */
export function replyResponse(response: EncodableResponse, isUpgrade: boolean): void {
  if (!isTextExchangeOpen() || !replyNatively(response, isUpgrade)) {
    msgReply(encodeResponse(response, isUpgrade));
  }
}

/** False, and nothing sent, when the headers are too long for this way. */
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
