// An action in progress: a second click is ignored, a failure is shown as a sentence, and the form
// keeps its values.

import { useSignal } from '@preact/signals';
import { isAborted, sentenceOf } from '../failures.ts';

/** `wordsOf`: returns the sentence of a failure. */
export function useTask(wordsOf = sentenceOf) {
  const isUnderWay = useSignal(false);
  const failure = useSignal<string | undefined>(undefined);
  async function run(work: () => Promise<void>): Promise<void> {
    if (isUnderWay.value) return;
    isUnderWay.value = true;
    failure.value = undefined;
    try {
      await work();
    } catch (error) {
      if (!isAborted(error)) failure.value = wordsOf(error);
    } finally {
      isUnderWay.value = false;
    }
  }
  return { isUnderWay, failure, run };
}
