// A view whose code comes with its first use.

import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { Failure } from './failure.tsx';

export function later<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): (props: Props) => preact.JSX.Element {
  let known: ComponentType<Props> | undefined;
  return function Later(props) {
    const hasFailed = useSignal(false);
    const isLoaded = useSignal(known !== undefined);
    useEffect(() => {
      load().then(
        (view) => {
          known = view;
          isLoaded.value = true;
        },
        () => {
          hasFailed.value = true;
        },
      );
    }, []);
    const View = known;
    if (isLoaded.value && View !== undefined) return <View {...props} />;
    if (!hasFailed.value) return <p class="waiting">One moment …</p>;
    return (
      <Failure
        text="A part of this page has not come. The service may be gone, or be of a newer version."
        onRetry={() => location.reload()}
      />
    );
  };
}
