// The sign-in, with a key or with an identity whose principal an owner adds as a member.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { texts } from '../language.ts';
import { Checkbox } from '../parts/checkbox.tsx';
import { Failure } from '../parts/failure.tsx';
import { Field } from '../parts/field.tsx';
import { useTask } from '../parts/task.ts';
import { go } from '../route.ts';
import { isLocal } from '../service.ts';
import { signInByIdentity, signInByKey } from '../session.ts';
import { offeredKey } from '../start.ts';

export function SignIn() {
  const { signIn: words } = texts();
  const isRemembered = useSignal(false);
  return (
    <div class="narrow">
      <h1 tabIndex={-1}>{words.title}</h1>
      <p>{words.purpose}</p>
      <KeyForm isRemembered={isRemembered.value} />
      <Checkbox label={words.stay} value={isRemembered} />
      <IdentityForm isRemembered={isRemembered.value} />
    </div>
  );
}

function KeyForm({ isRemembered }: { isRemembered: boolean }) {
  const { signIn: words } = texts();
  const apiKey = useSignal(offeredKey.value?.apiKey ?? '');
  const bucket = useSignal(offeredKey.value?.bucket || 'demo');
  const { isUnderWay, failure, run } = useTask();
  const submit = (event: Event) => {
    event.preventDefault();
    void run(async () => {
      const name = bucket.value.trim();
      await signInByKey(apiKey.value.trim(), { bucket: name, isRemembered });
      go({ view: 'files', bucket: name, prefix: '' });
    });
  };
  return (
    <form class="card" onSubmit={submit}>
      <h2>{words.withKey}</h2>
      <Field label={words.apiKey} value={apiKey} isSecret isRequired hint={words.keyHint} />
      <Field label={words.bucket} value={bucket} isRequired />
      <Failure text={failure.value} />
      <button type="submit" class="main" disabled={isUnderWay.value}>
        {isUnderWay.value ? words.underWay : words.byKey}
      </button>
    </form>
  );
}

interface Loaded {
  readonly ask: () => Promise<void>;
}

async function loadIdentities(): Promise<Loaded> {
  const { askInternetIdentity, derivationOrigin } = await import('../identities.ts');
  const origin = await derivationOrigin();
  return { ask: () => askInternetIdentity(origin) };
}

function IdentityForm({ isRemembered }: { isRemembered: boolean }) {
  const { signIn: words } = texts();
  const { isUnderWay, failure, run } = useTask();
  // Browsers open the provider's window only during a click, so the code is loaded before a click.
  const loaded = useSignal<Loaded | undefined>(undefined);
  useEffect(() => {
    if (isLocal()) return;
    void run(async () => {
      loaded.value = await loadIdentities();
    });
  }, []);
  const signIn = (kind: 'device' | 'internet-identity') =>
    run(async () => {
      if (kind === 'internet-identity') await loaded.value?.ask();
      await signInByIdentity(kind, isRemembered);
      go({ view: 'overview' });
    });
  return (
    <section class="card">
      <h2>{words.withIdentity}</h2>
      <p>{words.identity}</p>
      <Failure text={failure.value} />
      <button type="button" disabled={isUnderWay.value} onClick={() => void signIn('device')}>
        {isUnderWay.value ? words.underWay : words.byDevice}
      </button>
      {!isLocal() && (
        <button
          type="button"
          disabled={isUnderWay.value || loaded.value === undefined}
          onClick={() => void signIn('internet-identity')}
        >
          {words.byInternetIdentity}
        </button>
      )}
    </section>
  );
}
