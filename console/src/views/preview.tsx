// Shows a file. No content of a bucket runs scripts here: pictures and media have none, a PDF opens
// in the browser's own viewer, text stays text, and Markdown and tables are rendered as elements.

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { sentenceOf } from '../failures.ts';
import type { OpenedAddress } from '../files/download.ts';
import type { Previewed } from '../files/previewed.ts';
import { isCodeName } from '../files/shown-type.ts';
import { texts } from '../language.ts';
import { Failure } from '../parts/failure.tsx';
import { Icon } from '../parts/icon.tsx';
import { LongText } from '../parts/long-text.tsx';
import { sizeOf } from '../words.ts';

/** Longer texts have no preview. */
const textBytesMax = 500_000;
/** Larger pictures are loaded through a link, outside the page's memory. */
const pictureBytesMax = 20_000_000;

type Kind = 'image' | 'video' | 'audio' | 'pdf' | 'markdown' | 'table' | 'text';

function previewOf({ name, type, size, address }: Previewed): Kind | undefined {
  if (address === undefined && size > pictureBytesMax) return undefined;
  const [main] = type.split('/');
  // The extension .ts names TypeScript more often than an MPEG transport stream.
  if (size <= textBytesMax && isCodeName(name)) return 'text';
  if (main === 'image' || main === 'video' || main === 'audio') return main;
  if (type === 'application/pdf') return 'pdf';
  if (size > textBytesMax) return undefined;
  if (type === 'text/markdown' || name.endsWith('.md')) return 'markdown';
  if (type === 'text/csv' || type === 'text/tab-separated-values') return 'table';
  const isText = main === 'text' || /(?:json|xml|javascript|yaml|toml)$/.test(type);
  return isText ? 'text' : undefined;
}

interface Shown {
  readonly element: ComponentChildren;
  close?(): void;
}

export function Preview({ file }: { file: Previewed }) {
  const { file: words, page } = texts();
  const kind = previewOf(file);
  const shown = useSignal<ComponentChildren>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  useEffect(() => {
    if (kind === undefined) return undefined;
    const opened = show(file, kind);
    opened.then(
      ({ element }) => {
        shown.value = element;
      },
      (error) => {
        failure.value = sentenceOf(error);
      },
    );
    return () => void opened.then(({ close }) => close?.()).catch(() => {});
  }, []);
  return (
    <section class="preview" aria-label={words.preview}>
      {kind === undefined && (
        <p class="no-preview">
          <Icon name="file" />
          {words.noPreview(sizeOf(file.size))}
        </p>
      )}
      {kind !== undefined && !shown.value && !failure.value && (
        <p class="waiting">{page.loading}</p>
      )}
      <Failure text={failure.value} />
      {shown.value}
    </section>
  );
}

async function show(file: Previewed, kind: Kind): Promise<Shown> {
  if (kind === 'text' || kind === 'markdown' || kind === 'table') {
    const text = await (await file.whole()).text();
    if (kind === 'table') {
      const { CsvTable } = await import('./csv-table.tsx');
      return { element: <CsvTable text={text} /> };
    }
    if (kind === 'text') return { element: <LongText text={text} /> };
    const { markdownView } = await import('./markdown.tsx');
    return {
      element: (
        <div class="markdown" dir="auto">
          {markdownView(text)}
        </div>
      ),
    };
  }
  const { address, close } = await openedPicture(file, kind);
  const { name } = file;
  if (kind === 'image') return { element: <img src={address} alt={name} />, close };
  if (kind === 'pdf') return { element: <Pdf address={address} name={name} />, close };
  return { element: <Media kind={kind} src={address} name={name} />, close };
}

/** Loads a picture as a whole, and media and PDF part by part through a link. */
async function openedPicture(file: Previewed, kind: Kind): Promise<OpenedAddress> {
  const isPicture = kind === 'image' && file.size <= pictureBytesMax;
  if (file.address !== undefined && !isPicture) return file.address();
  // The type decides how the browser shows the blob, whatever its bytes are.
  const blob = new Blob([await file.whole()], { type: file.type });
  const address = URL.createObjectURL(blob);
  return { address, close: () => URL.revokeObjectURL(address) };
}

function Pdf({ address, name }: { address: string; name: string }) {
  return (
    <>
      <iframe src={address} title={name} />
      <p>
        <a href={address} target="_blank" rel="noopener noreferrer">
          {texts().file.openPdf}
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
