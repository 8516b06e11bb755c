// One file in the list of an upload element: name, state, progress, and buttons.

import { make, makeButton, sizeText } from './dom.ts';
import type { UploadTexts } from './texts.ts';
import type { UploadItem } from './upload-queue.ts';

export interface UploadRow {
  readonly element: HTMLLIElement;
  update(): void;
}

interface RowActions {
  cancel(): void;
  retry(): void;
}

export function makeUploadRow(
  item: UploadItem,
  texts: UploadTexts,
  { cancel, retry }: RowActions,
): UploadRow {
  const { name, file } = item;
  const state = make('span', { part: 'note' });
  const progress = make('progress', { part: 'progress', 'aria-label': name, max: 1 });
  const again = makeButton({ text: texts.retry, 'aria-label': `${texts.retry}: ${name}` }, retry);
  const end = makeButton({ text: '' }, cancel);
  const actions = make('span', { class: 'actions' }, again, end);
  const element = make('li', {}, make('span', { part: 'name' }, name), progress, state, actions);
  function update(): void {
    const isOver = item.state === 'done' || item.state === 'failed';
    const word = isOver ? texts.remove : texts.cancel;
    element.part.value = `item ${item.state}`;
    element.className = element.part.value;
    state.className = item.state === 'failed' ? 'error' : 'note';
    state.textContent = stateText(item, texts);
    progress.value = file.size === 0 ? 0 : item.sentBytes / file.size;
    progress.hidden = isOver;
    again.hidden = item.isRetryable !== true || item.state !== 'failed';
    if (end.textContent === word) return;
    end.textContent = word;
    end.setAttribute('aria-label', `${word}: ${name}`);
  }
  update();
  return { element, update };
}

function stateText(item: UploadItem, texts: UploadTexts): string {
  const size = sizeText(item.file.size);
  if (item.state === 'waiting') return texts.waiting;
  if (item.state === 'offline') return texts.offline;
  if (item.state === 'done') return texts.done(size);
  if (item.state === 'failed') return failureText(item, texts);
  return texts.sending(Math.floor((100 * item.sentBytes) / (item.file.size || 1)), size);
}

/** Codes of the service and the client library, with the texts that say them to visitors. */
const textsByCode = {
  PreconditionFailed: 'exists',
  EntityTooLarge: 'serviceLimit',
  QuotaExceeded: 'full',
  SlowDown: 'full',
  Unauthorized: 'noRight',
  InvalidApiKey: 'noRight',
  AccessDenied: 'noRight',
  Unsupported: 'noTus',
  NetworkError: 'noNetwork',
  Timeout: 'noNetwork',
} as const satisfies Readonly<Record<string, keyof UploadTexts>>;

export function failureText({ error }: UploadItem, texts: UploadTexts): string {
  const { code = '', message = '' } = error ?? {};
  if (code === 'NotAccepted') return message;
  const known: string | undefined = Object.hasOwn(textsByCode, code)
    ? texts[textsByCode[code as keyof typeof textsByCode]]
    : undefined;
  return known ?? texts.failed(message);
}
