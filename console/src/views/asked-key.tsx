// Asks before the key of an address takes the place of whoever is signed in.

import { type AddressKey, askedKey, openAddressKey } from '../address-key.ts';
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
  return (
    <Dialog title="Use another key in this tab?" onClose={close}>
      <p>
        You are signed in already. The address that you opened has an API key
        {told.bucket !== '' && <> for the bucket {told.bucket}</>}. What you upload with it may be
        read by whoever sent you the address. The key stays in this tab, and other tabs keep your
        own session.
      </p>
      <Failure text={failure.value} />
      <div class="buttons">
        <button type="button" class="main" data-first onClick={close}>
          Stay signed in as before
        </button>
        <button type="button" disabled={isUnderWay.value} onClick={() => void accept()}>
          Use the key in this tab
        </button>
      </div>
    </Dialog>
  );
}
