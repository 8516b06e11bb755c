// The page's start. It takes the secrets out of the address before other code can read it.

import { effect } from '@preact/signals';
import { type ComponentChild, render } from 'preact';
import { askedKey, openAddressKey } from './address-key.ts';
import { App } from './app.tsx';
import { sentenceOf } from './failures.ts';
import { describeLanguage, loadedTexts, showFirstLanguage, texts } from './language.ts';
import { isAtLink, takeLink } from './link-address.ts';
import { tell } from './notices.ts';
import { followAddress } from './route.ts';
import {
  hasKey,
  isSignedInOtherwise,
  openDropBox,
  openSharedFolder,
  restoreSession,
  session,
  takeKeyOfAddress,
} from './session.ts';
import { isStarting } from './start.ts';
import './style/base.css';
import './style/parts.css';
import './style/views.css';

async function begin(): Promise<void> {
  const told = takeKeyOfAddress();
  if (told === undefined) return restoreSession();
  const { apiKey, bucket, folder, ownerKey, recipients, message, shared } = told;
  if (folder !== undefined) return openDropBox(apiKey, { bucket, folder, recipients, message });
  if (shared !== undefined) return openSharedFolder(shared);
  const key = { apiKey, bucket, ownerKey };
  if (!isSignedInOtherwise(ownerKey || apiKey)) return openAddressKey(key);
  askedKey.value = key;
  if (session.value === undefined) await restoreSession();
}

function start(): Promise<void> {
  return begin()
    .catch(async (error) => {
      await loadedTexts();
      tell(sentenceOf(error), { isFailure: true });
    })
    .finally(() => {
      isStarting.value = false;
    });
}

function startConsole(): void {
  void start();
  // A key or a link can be added to the address of an open page. This listener must run before that
  // of the route.
  addEventListener('hashchange', () => {
    if (isAtLink()) location.reload();
    else if (hasKey(location.hash)) void start();
  });
  followAddress();
  void show(<App />);
}

/** Shows the file of a link without a session, even if a user is signed in. */
async function startAtLink(): Promise<void> {
  const link = takeLink();
  // Opening the same link again in this tab changes only the fragment.
  addEventListener('hashchange', () => location.reload());
  const { LinkView } = await import('./views/link.tsx');
  void show(<LinkView link={link} />);
}

async function show(view: ComponentChild): Promise<void> {
  await loadedTexts();
  const root = document.getElementById('app');
  if (root !== null) render(view, root);
}

// The texts arrive while the session is restored.
void showFirstLanguage().then((isFirst) => {
  if (!isFirst) tell(texts().page.unloaded, { isFailure: true });
});
effect(describeLanguage);
// No top-level await: chunks that are loaded later import this module and wait until it has ended.
if (isAtLink()) void startAtLink();
else startConsole();
