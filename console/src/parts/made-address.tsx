// A new address that contains a secret, as a text to copy and as a QR code.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { CopyText } from './copy-text.tsx';

/** `what` is a noun such as `the link`. */
export function MadeAddress(props: { url: string; what: string; words: string }) {
  const { url, what, words } = props;
  const picture = useSignal<string | undefined>(undefined);
  useEffect(() => {
    void import('uqr').then(({ renderSVG }) => {
      picture.value = `data:image/svg+xml,${encodeURIComponent(renderSVG(url))}`;
    });
  }, [url]);
  return (
    <div class="made" role="status">
      <p>{words}</p>
      <CopyText text={url} label={what} />
      {picture.value && (
        <img class="qr" src={picture.value} alt={`${capital(what)} as a QR code`} />
      )}
    </div>
  );
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
