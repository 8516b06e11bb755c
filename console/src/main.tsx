// The page's start: a key of the address is taken before anything else looks at it.

import { render } from 'preact';
import { App } from './app.tsx';
import { sentenceOf } from './failures.ts';
import { tell } from './notices.ts';
import { followAddress, go } from './route.ts';
import { restoreSession, signInByKey, takeKeyOfAddress } from './session.ts';
import { isStarting, offeredKey } from './start.ts';
import './style/base.css';
import './style/parts.css';
import './style/views.css';

async function begin(): Promise<void> {
  const told = takeKeyOfAddress();
  if (told === undefined) return restoreSession();
  offeredKey.value = told;
  if (told.bucket === '') return;
  await signInByKey(told.apiKey, { bucket: told.bucket, isRemembered: false });
  go({ view: 'files', bucket: told.bucket, prefix: '' });
}

function start(): Promise<void> {
  return begin()
    .catch((error) => tell(sentenceOf(error), { isFailure: true }))
    .finally(() => {
      isStarting.value = false;
    });
}

const started = start();
// The same, where the page is open already. Before the route follows.
addEventListener('hashchange', () => {
  if (location.hash.startsWith('#key=')) void start();
});
followAddress();
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
await started;
