// A new address that contains a secret, as a text to copy and as a QR code.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { CopyText } from './copy-text.tsx';

interface MadeAddressProps {
  readonly url: string;
  readonly words: string;
  /** Label of the button that copies it. */
  readonly label: string;
  /** Describes the QR code. */
  readonly alt: string;
}

export function MadeAddress({ url, words, label, alt }: MadeAddressProps) {
  const picture = useSignal<string | undefined>(undefined);
  useEffect(() => {
    void import('uqr').then(({ renderSVG }) => {
      picture.value = `data:image/svg+xml,${encodeURIComponent(renderSVG(url))}`;
    });
  }, [url]);
  return (
    <div class="made" role="status">
      <p>{words}</p>
      <CopyText text={url} label={label} isMain />
      {picture.value && <img class="qr" src={picture.value} alt={alt} />}
    </div>
  );
}
