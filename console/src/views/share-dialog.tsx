// The links of a file: creates one, shows it as text and QR code, and revokes links.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { LinkRecord } from '../../../packages/client/src/types/links.ts';
import { sentenceOf } from '../failures.ts';
import { isOwnLink } from '../files/download.ts';
import { Dialog } from '../parts/dialog.tsx';
import { ExpirySelect, expiryAfter } from '../parts/expiry-select.tsx';
import { Failure } from '../parts/failure.tsx';
import { MadeAddress } from '../parts/made-address.tsx';
import { useTask } from '../parts/task.ts';
import { expiryOf, nameOf, whenOf } from '../words.ts';
import type { Target } from './drop-area.tsx';

interface ShareProps {
  readonly target: Pick<Target, 'session' | 'bucket'>;
  readonly path: string;
  /** The file belongs to an end-to-end bucket. */
  readonly isSealed: boolean;
}

export function ShareDialog({ onClose, ...props }: ShareProps & { onClose(): void }) {
  return (
    <Dialog title={`Share “${nameOf(props.path)}”`} onClose={onClose}>
      <Links {...props} />
    </Dialog>
  );
}

/** Shown in the dialog and in the view of a file. */
export function Links({ target, path, isSealed }: ShareProps) {
  const links = useSignal<readonly LinkRecord[] | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  async function load(): Promise<void> {
    try {
      const found: LinkRecord[] = [];
      const { bucket, session } = target;
      for await (const link of session.storage.links.list({ bucket, path })) {
        if (!isOwnLink(link.id)) found.push(link);
      }
      links.value = found;
    } catch (error) {
      failure.value = sentenceOf(error);
    }
  }
  useEffect(() => void load(), []);
  return (
    <>
      <NewLink target={target} path={path} isSealed={isSealed} onMade={() => void load()} />
      <Failure text={failure.value} />
      {links.value !== undefined && links.value.length > 0 && (
        <>
          <h3>Active links</h3>
          <ul class="lines">
            {links.value.map((link) => (
              <OneLink key={link.id} link={link} target={target} onGone={() => void load()} />
            ))}
          </ul>
        </>
      )}
    </>
  );
}

const once = 'The link is ready. It is shown only once: copy it now.';
/** The fragment is the key of this version of the file. */
const opening =
  'Whoever has the whole address, including the part after #, can read the current version of ' +
  'the file. A new version needs another link.';
const unopened = 'The file stays encrypted: only those who have an identity for it can decrypt it.';

function wordsOf(url: string, isSealed: boolean): string {
  if (!isSealed) return once;
  return `${once} ${url.includes('#') ? opening : unopened}`;
}

function NewLink({ target, path, isSealed, onMade }: ShareProps & { onMade(): void }) {
  const days = useSignal('7');
  const url = useSignal<string | undefined>(undefined);
  const { isUnderWay, failure, run } = useTask();
  const make = (event: Event) => {
    event.preventDefault();
    void run(async () => {
      const { bucket, session } = target;
      const expiresAt = expiryAfter(days.value);
      const made = await session.storage.links.create({ bucket, path, expiresAt });
      url.value = made.url;
      onMade();
    });
  };
  return (
    <>
      <p>Whoever has the link can read the file without signing in.</p>
      <form class="line-form" onSubmit={make}>
        <ExpirySelect days={days} />
        <button type="submit" class="main" disabled={isUnderWay.value}>
          {isUnderWay.value ? 'Creating a link …' : 'Create a link'}
        </button>
      </form>
      <Failure text={failure.value} />
      {url.value !== undefined && (
        <MadeAddress url={url.value} what="the link" words={wordsOf(url.value, isSealed)} />
      )}
    </>
  );
}

interface OneLinkProps {
  readonly link: LinkRecord;
  readonly target: ShareProps['target'];
  onGone(): void;
}

/** Returns who created the link, if the caller may see it. */
function makerOf({ maker, keyId }: LinkRecord, own: string | undefined): string {
  if (keyId !== undefined) return ` with the key ${keyId}`;
  if (maker === undefined) return '';
  return maker === own ? ' by you' : ` by ${maker}`;
}

function OneLink({ link, target, onGone }: OneLinkProps) {
  const { isUnderWay, failure, run } = useTask();
  const revoke = () =>
    run(async () => {
      await target.session.storage.links.remove(target.bucket, link.id);
      onGone();
    });
  return (
    <li>
      <span>
        Created {whenOf(link.createdAt)}
        {makerOf(link, target.session.principal)}, {expiryOf(link.expiresAt)}
        <Failure text={failure.value} />
      </span>
      <button
        type="button"
        class="danger"
        disabled={isUnderWay.value}
        aria-label={`Revoke the link created ${whenOf(link.createdAt)}`}
        onClick={() => void revoke()}
      >
        {isUnderWay.value ? 'Revoking …' : 'Revoke'}
      </button>
    </li>
  );
}
