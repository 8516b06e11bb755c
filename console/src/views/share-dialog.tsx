// Links to a file: make one, hand it out as text or picture, take it back.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { LinkRecord } from '../../../packages/client/src/interface.ts';
import { sentenceOf } from '../failures.ts';
import { isOwnLink } from '../files/download.ts';
import { CopyText } from '../parts/copy-text.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Failure } from '../parts/failure.tsx';
import { useTask } from '../parts/task.ts';
import { dayMs, expiryOf, nameOf, whenOf } from '../words.ts';
import type { Target } from './drop-area.tsx';

interface ShareProps {
  readonly target: Pick<Target, 'session' | 'bucket'>;
  readonly path: string;
}

export function ShareDialog({ target, path, onClose }: ShareProps & { onClose(): void }) {
  return (
    <Dialog title={`Share “${nameOf(path)}”`} onClose={onClose}>
      <Links target={target} path={path} />
    </Dialog>
  );
}

/** Also part of a file's view. */
export function Links({ target, path }: ShareProps) {
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
      <NewLink target={target} path={path} onMade={() => void load()} />
      <Failure text={failure.value} />
      {links.value !== undefined && links.value.length > 0 && (
        <>
          <h3>Links that work now</h3>
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

const terms = [
  ['1', 'a day'],
  ['7', 'a week'],
  ['30', '30 days'],
  ['', 'no limit'],
] as const;

function NewLink({ target, path, onMade }: ShareProps & { onMade(): void }) {
  const days = useSignal('7');
  const url = useSignal<string | undefined>(undefined);
  const { isUnderWay, failure, run } = useTask();
  const make = (event: Event) => {
    event.preventDefault();
    void run(async () => {
      const { bucket, session } = target;
      const limit = Number(days.value) * dayMs;
      const expiresAt = limit > 0 ? new Date(Date.now() + limit) : undefined;
      url.value = (await session.storage.links.create({ bucket, path, expiresAt })).url;
      onMade();
    });
  };
  return (
    <>
      <p>Whoever has the link can read the file, without signing in. Nobody else learns of it.</p>
      <form class="line-form" onSubmit={make}>
        <label>
          It works for
          <select
            value={days.value}
            onChange={({ currentTarget }) => {
              days.value = currentTarget.value;
            }}
          >
            {terms.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" class="main" disabled={isUnderWay.value}>
          {isUnderWay.value ? 'Making a link …' : 'Make a link'}
        </button>
      </form>
      <Failure text={failure.value} />
      {url.value !== undefined && <MadeLink url={url.value} />}
    </>
  );
}

function MadeLink({ url }: { url: string }) {
  const picture = useSignal<string | undefined>(undefined);
  useEffect(() => {
    void import('uqr').then(({ renderSVG }) => {
      picture.value = `data:image/svg+xml,${encodeURIComponent(renderSVG(url))}`;
    });
  }, [url]);
  return (
    <div class="made" role="status">
      <p>The link is ready. It is shown this once: copy it now.</p>
      <CopyText text={url} label="the link" />
      {picture.value && <img class="qr" src={picture.value} alt="The link as a QR code" />}
    </div>
  );
}

interface OneLinkProps {
  readonly link: LinkRecord;
  readonly target: ShareProps['target'];
  onGone(): void;
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
        Made {whenOf(link.createdAt)}, {expiryOf(link.expiresAt)}
        <Failure text={failure.value} />
      </span>
      <button
        type="button"
        class="danger"
        disabled={isUnderWay.value}
        aria-label={`Revoke the link made ${whenOf(link.createdAt)}`}
        onClick={() => void revoke()}
      >
        {isUnderWay.value ? 'Revoking …' : 'Revoke'}
      </button>
    </li>
  );
}
