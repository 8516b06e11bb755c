// Loads a view's code when it is first shown.

import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { sentenceOf } from '../failures.ts';
import { texts } from '../language.ts';
import { session } from '../session.ts';
import { Failure } from './failure.tsx';

/** Returns why the service does not answer: it may be frozen or stopped. */
async function serviceFailure(): Promise<string | undefined> {
  return session.value?.storage.status().then(() => undefined, sentenceOf);
}

export function deferred<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): (props: Props) => preact.JSX.Element {
  let known: ComponentType<Props> | undefined;
  return function Deferred(props) {
    const failure = useSignal<string | undefined>(undefined);
    const isLoaded = useSignal(known !== undefined);
    useEffect(() => {
      load().then(
        (view) => {
          known = view;
          isLoaded.value = true;
        },
        async () => {
          failure.value = texts().page.unloaded;
          failure.value = (await serviceFailure()) ?? failure.value;
        },
      );
    }, []);
    const View = known;
    if (isLoaded.value && View !== undefined) return <View {...props} />;
    if (failure.value === undefined) return <p class="waiting">{texts().page.oneMoment}</p>;
    return <Failure text={failure.value} onRetry={() => location.reload()} />;
  };
}
