// What a file looks like. Nothing of a bucket runs here: pictures and media run no script, a PDF is
// in the browser's own viewer, and a text stays a text, Markdown becomes elements made here.

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { FileRecord } from '../../../packages/client/src/interface.ts';
import { sentenceOf } from '../failures.ts';
import { addressFor } from '../files/download.ts';
import { Failure } from '../parts/failure.tsx';
import { Icon } from '../parts/icon.tsx';
import { LongText } from '../parts/long-text.tsx';
import type { Session } from '../session.ts';
import { nameOf, sizeOf } from '../words.ts';

/** A longer text is downloaded to be read. */
const textBytesMax = 500_000;

type Kind = 'image' | 'video' | 'audio' | 'pdf' | 'markdown' | 'text';

function previewOf({ contentType, path, size }: FileRecord): Kind | undefined {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const [main] = type.split('/');
  if (main === 'image' || main === 'video' || main === 'audio') return main;
  if (type === 'application/pdf') return 'pdf';
  if (size > textBytesMax) return undefined;
  if (type === 'text/markdown' || path.endsWith('.md')) return 'markdown';
  const isText = main === 'text' || /(?:json|xml|javascript|yaml|toml)$/.test(type);
  return isText ? 'text' : undefined;
}

export function Preview({ session, file }: { session: Session; file: FileRecord }) {
  const kind = previewOf(file);
  const shown = useSignal<ComponentChildren>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  useEffect(() => {
    if (kind === undefined) return;
    show(session, file, kind).then(
      (element) => {
        shown.value = element;
      },
      (error) => {
        failure.value = sentenceOf(error);
      },
    );
  }, []);
  return (
    <section class="preview" aria-label="Preview">
      {kind === undefined && (
        <p class="no-preview">
          <Icon name="file" />
          No preview of this kind of file, of {sizeOf(file.size)}. Download it to look at it.
        </p>
      )}
      {kind !== undefined && !shown.value && !failure.value && <p class="waiting">Loading …</p>}
      <Failure text={failure.value} />
      {shown.value}
    </section>
  );
}

async function show(session: Session, file: FileRecord, kind: Kind): Promise<ComponentChildren> {
  const { bucketId: bucket, path } = file;
  const place = { storage: session.storage, bucket };
  const name = nameOf(path);
  if (kind === 'text' || kind === 'markdown') {
    const { bytes } = await session.storage.download({ bucket, path });
    const text = new TextDecoder().decode(await bytes());
    if (kind === 'text') return <LongText text={text} />;
    const { markdownView } = await import('./markdown.tsx');
    return <div class="markdown">{markdownView(text)}</div>;
  }
  const address = await addressFor(place, path);
  if (kind === 'image') return <img src={address} alt={name} />;
  if (kind === 'video' || kind === 'audio') return <Media kind={kind} src={address} name={name} />;
  return (
    <>
      <iframe src={address} title={name} />
      <p>
        <a href={address} target="_blank" rel="noopener noreferrer">
          Open the PDF by itself
        </a>
      </p>
    </>
  );
}

function Media({
  kind: Element,
  src,
  name,
}: {
  kind: 'video' | 'audio';
  src: string;
  name: string;
}) {
  return <Element src={src} controls preload="metadata" aria-label={name} />;
}
