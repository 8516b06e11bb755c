// The page's start: the secrets of the address are taken before anything else looks at it.

import { type ComponentChild, render } from 'preact';
import { askedKey, openAddressKey } from './address-key.ts';
import { App } from './app.tsx';
import { sentenceOf } from './failures.ts';
import { isAtLink, takeLink } from './link-address.ts';
import { tell } from './notices.ts';
import { followAddress } from './route.ts';
import {
  isSignedInOtherwise,
  openDropBox,
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
  const { apiKey, bucket, folder, recipients } = told;
  if (folder !== undefined) return openDropBox(apiKey, { bucket, folder, recipients });
  if (!isSignedInOtherwise(apiKey)) return openAddressKey({ apiKey, bucket });
  askedKey.value = { apiKey, bucket };
  if (session.value === undefined) await restoreSession();
}

function start(): Promise<void> {
  return begin()
    .catch((error) => tell(sentenceOf(error), { isFailure: true }))
    .finally(() => {
      isStarting.value = false;
    });
}

function startConsole(): void {
  void start();
  // The same, where the page is open already. Before the route follows.
  addEventListener('hashchange', () => {
    if (location.hash.startsWith('#key=')) void start();
  });
  followAddress();
  show(<App />);
}

/** Whoever was sent a file is nobody here, even where somebody else has signed in. */
async function startAtLink(): Promise<void> {
  const link = takeLink();
  // The same link once more, in the same tab, is another end of the address.
  addEventListener('hashchange', () => location.reload());
  const { LinkView } = await import('./views/link.tsx');
  show(<LinkView link={link} />);
}

function show(view: ComponentChild): void {
  const root = document.getElementById('app');
  if (root !== null) render(view, root);
}

// Without waiting for either: what comes later imports this module, which must have run by then.
if (isAtLink()) void startAtLink();
else startConsole();
