// The page's frame: the signed-in caller, the view that the address selects, and notices.

import { useEffect, useRef } from 'preact/hooks';
import { askedKey } from './address-key.ts';
import { texts } from './language.ts';
import { deferred } from './parts/deferred.tsx';
import { LanguageSelect } from './parts/language-select.tsx';
import { Notices } from './parts/notices.tsx';
import { addressOf, route, titleOf } from './route.ts';
import { isGuest, type Session, session, signOut } from './session.ts';
import { isStarting } from './start.ts';
import { leftOver, uploads } from './uploads/state.ts';
import { FilesPage } from './views/files.tsx';
import { Overview } from './views/overview.tsx';
import { SignIn } from './views/sign-in.tsx';

const AskedKey = deferred(async () => (await import('./views/asked-key.tsx')).AskedKey);
const FilePage = deferred(async () => (await import('./views/file.tsx')).FilePage);
const UploadPanel = deferred(async () => (await import('./views/upload-panel.tsx')).UploadPanel);
const DeletedPage = deferred(async () => (await import('./views/deleted.tsx')).DeletedPage);
const BucketPage = deferred(async () => (await import('./views/bucket.tsx')).BucketPage);
const ActivityPage = deferred(async () => (await import('./views/activity.tsx')).ActivityPage);
const ServicePage = deferred(async () => (await import('./views/service.tsx')).ServicePage);
const DropBoxPage = deferred(async () => (await import('./views/drop-box.tsx')).DropBoxPage);

export function App() {
  return (
    <>
      <button type="button" class="skip" onClick={skip}>
        {texts().page.skip}
      </button>
      <TopBar />
      <main id="main" tabIndex={-1}>
        <View />
      </main>
      {session.value && uploads.value.length + leftOver.value.length > 0 && (
        <UploadPanel session={session.value} />
      )}
      {askedKey.value && <AskedKey told={askedKey.value} />}
      <Notices />
    </>
  );
}

function leave(): void {
  // Otherwise the page has not loaded the code for uploads.
  if (uploads.value.length > 0)
    void import('./uploads/queue.ts').then((queue) => queue.stopUploads());
  void signOut();
}

/** Finds uploads that an earlier page has not completed. */
function lookForLeftOver(): void {
  // Without the code, they are found when the page is opened again.
  import('./uploads/left-over.ts').then((found) => found.lookForLeftOver()).catch(() => {});
}

/** Moves the focus to the content. A link cannot, because the fragment selects the view. */
function skip(): void {
  document.getElementById('main')?.focus();
}

function TopBar() {
  const { value: current } = session;
  const { page } = texts();
  return (
    <header class="top">
      {current && isGuest(current) ? (
        <span class="home">{page.name}</span>
      ) : (
        <a class="home" href={addressOf({ view: 'overview' })}>
          {page.name}
        </a>
      )}
      <LanguageSelect />
      {current && !isGuest(current) && (
        <button type="button" class="plain" onClick={leave}>
          {page.signOut}
        </button>
      )}
    </header>
  );
}

function View() {
  const { value: current } = session;
  const { value: place } = route;
  const { page } = texts();
  const isFirst = useRef(true);
  useEffect(() => {
    if (current !== undefined) lookForLeftOver();
  }, [current === undefined]);
  useEffect(() => {
    // Screen readers announce the heading of the new view.
    if (!isFirst.current) document.querySelector<HTMLElement>('main h1')?.focus();
    isFirst.current = false;
  }, [place, current === undefined]);
  const title = current === undefined || isGuest(current) ? page.name : titleOf(place);
  useEffect(() => {
    document.title = title;
  }, [title]);
  if (isStarting.value) return <p class="waiting">{page.oneMoment}</p>;
  if (current === undefined) return <SignIn />;
  if (current.drop !== undefined) return <DropBoxPage session={current} box={current.drop} />;
  if (current.shared !== undefined) return <SharedFolder session={current} {...current.shared} />;
  switch (place.view) {
    case 'files':
      return <FilesPage key={`${place.bucket}/${place.prefix}`} session={current} place={place} />;
    case 'file':
      return <FilePage key={`${place.bucket}/${place.path}`} session={current} place={place} />;
    case 'bucket':
      return <BucketPage key={place.bucket} session={current} bucket={place.bucket} />;
    case 'deleted':
      return <DeletedPage key={place.bucket} session={current} bucket={place.bucket} />;
    case 'activity':
      return <ActivityPage key={`${place.bucket}/${place.path}`} session={current} place={place} />;
    case 'service':
      return <ServicePage session={current} />;
    default:
      return <Overview session={current} />;
  }
}

/** Shows the folder of a link, and the files and folders in it. */
function SharedFolder(props: { session: Session; bucket: string; folder: string }) {
  const { session: current, bucket, folder } = props;
  const { value: place } = route;
  if (place.view === 'file' && place.bucket === bucket && place.path.startsWith(folder)) {
    return <FilePage key={place.path} session={current} place={place} />;
  }
  const isInside = place.view === 'files' && place.bucket === bucket;
  const prefix = isInside && place.prefix.startsWith(folder) ? place.prefix : folder;
  const shown = { view: 'files', bucket, prefix } as const;
  return <FilesPage key={prefix} session={current} place={shown} />;
}
