// Asks the signed-in user before a key from an address replaces the session.

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
        You are already signed in. The address that you opened contains{' '}
        {told.ownerKey === '' ? 'an API key' : 'the key of an owner'}
        {told.bucket !== '' && <> for the bucket {told.bucket}</>}. The sender of the address may be
        able to read what you upload with this key. The key is used only in this tab; other tabs
        keep your own session.
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
