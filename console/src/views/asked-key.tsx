// Asks the signed-in user before a key from an address replaces the session.

import { type AddressKey, askedKey, openAddressKey } from '../address-key.ts';
import { texts } from '../language.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Failure } from '../parts/failure.tsx';
import { useTask } from '../parts/task.ts';

export function AskedKey({ told }: { told: AddressKey }) {
  const { isUnderWay, failure, run } = useTask();
  const close = () => {
    askedKey.value = undefined;
  };
  const accept = () =>
    run(async () => {
      await openAddressKey(told);
      close();
    });
  const { askedKey: words } = texts();
  return (
    <Dialog title={words.title} onClose={close}>
      <p>{words.question(told.ownerKey !== '', told.bucket)}</p>
      <Failure text={failure.value} />
      <div class="buttons">
        <button type="button" class="main" data-first onClick={close}>
          {words.stay}
        </button>
        <button type="button" disabled={isUnderWay.value} onClick={() => void accept()}>
          {words.use}
        </button>
      </div>
    </Dialog>
  );
}
