// The links of a file: creates one, shows it as text and QR code, and revokes links.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { linkOf, lockOf } from '../../../packages/client/src/links/locked-link.ts';
import type { LinkRecord } from '../../../packages/client/src/types/links.ts';
import { sentenceOf } from '../failures.ts';
import { isOwnLink } from '../files/download.ts';
import { texts } from '../language.ts';
import { Dialog } from '../parts/dialog.tsx';
import { ExpirySelect, expiryAfter } from '../parts/expiry-select.tsx';
import { Failure } from '../parts/failure.tsx';
import { Field } from '../parts/field.tsx';
import { MadeAddress } from '../parts/made-address.tsx';
import { useTask } from '../parts/task.ts';
import { expiryOf, nameOf, whenWithin } from '../words.ts';
import { useRights } from './bucket-role.ts';
import type { Target } from './drop-area.tsx';

interface ShareProps {
  readonly target: Pick<Target, 'session' | 'bucket'>;
  readonly path: string;
  /** The file belongs to an end-to-end bucket. */
  readonly isSealed: boolean;
}

export function ShareDialog({ onClose, ...props }: ShareProps & { onClose(): void }) {
  return (
    <Dialog title={texts().sharing.title(nameOf(props.path))} onClose={onClose}>
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
          <h3>{texts().sharing.active}</h3>
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

/** The fragment is the key of this version of the file; with a password it has a masked key. */
function wordsOf(address: string, isSealed: boolean): string {
  const { once, opening, unopened } = texts().sharing;
  const link = linkOf(new URL(address));
  const lock = lockOf(link);
  const opens = lock === undefined ? link.hash !== '' : lock.fileKey !== '';
  if (!isSealed || (opens && lock !== undefined)) return once;
  return `${once} ${opens ? opening : unopened}`;
}

function NewLink({ target, path, isSealed, onMade }: ShareProps & { onMade(): void }) {
  const { sharing: words, copying } = texts();
  const days = useSignal('7');
  const password = useSignal('');
  const downloads = useSignal('');
  const url = useSignal<string | undefined>(undefined);
  const { isUnderWay, failure, run } = useTask();
  const make = (event: Event) => {
    event.preventDefault();
    void run(async () => {
      const { bucket, session } = target;
      const expiresAt = expiryAfter(days.value);
      const made = await session.storage.links.create({
        ...{ bucket, path, expiresAt },
        password: password.value || undefined,
        maxDownloads: Number(downloads.value) || undefined,
      });
      url.value = made.url;
      onMade();
    });
  };
  return (
    <>
      <p>{words.whoever}</p>
      <form onSubmit={make}>
        <Field label={words.password} hint={words.passwordHint} value={password} isSecret />
        <Field
          label={words.maxDownloads}
          hint={words.maxDownloadsHint}
          value={downloads}
          digits="[1-9][0-9]{0,8}"
        />
        <div class="line-form">
          <ExpirySelect days={days} />
          <button
            type="submit"
            // The next step is to copy the link.
            class={url.value === undefined ? 'main' : undefined}
            disabled={isUnderWay.value}
          >
            {isUnderWay.value ? words.creating : words.create}
          </button>
        </div>
      </form>
      <Failure text={failure.value} />
      {url.value !== undefined && (
        <MadeAddress
          url={url.value}
          words={wordsOf(url.value, isSealed)}
          label={copying.link}
          alt={copying.linkPicture}
        />
      )}
    </>
  );
}

interface OneLinkProps {
  readonly link: LinkRecord;
  readonly target: ShareProps['target'];
  onGone(): void;
}

interface Viewer {
  readonly principal?: string | undefined;
  readonly memberNames: ReadonlyMap<string, string>;
}

/** Says when the link was created and expires, and who created it, if the caller may see that. */
function describe(link: LinkRecord, { principal: own, memberNames }: Viewer): string {
  const { maker, keyId } = link;
  const { sharing: words } = texts();
  const when = whenWithin(link.createdAt);
  const expiry = expiryOf(link.expiresAt);
  if (keyId !== undefined) return words.madeWithKey(when, keyId, expiry);
  if (maker === undefined) return words.made(when, expiry);
  if (maker === own) return words.madeByYou(when, expiry);
  return words.madeBy(when, memberNames.get(maker) ?? maker, expiry);
}

function boundsOf({ hasPassword, maxDownloads, downloadCount }: LinkRecord): string {
  const { sharing: words } = texts();
  const counted = maxDownloads && words.downloads(`${downloadCount} / ${maxDownloads}`);
  return [hasPassword && words.needsPassword, counted].filter(Boolean).join(', ');
}

function OneLink({ link, target, onGone }: OneLinkProps) {
  const { sharing: words } = texts();
  const { session, bucket } = target;
  const { memberNames } = useRights(session, bucket);
  const { isUnderWay, failure, run } = useTask();
  const revoke = () =>
    run(async () => {
      await session.storage.links.remove(bucket, link.id);
      onGone();
    });
  return (
    <li>
      <span>
        {describe(link, { principal: session.principal, memberNames })}
        <small>{boundsOf(link)}</small>
        <Failure text={failure.value} />
      </span>
      <button
        type="button"
        class="danger"
        disabled={isUnderWay.value}
        aria-label={words.revokeOne(whenWithin(link.createdAt))}
        onClick={() => void revoke()}
      >
        {isUnderWay.value ? words.revoking : words.revoke}
      </button>
    </li>
  );
}
