// The line below the list of a folder; without a list, it stands in its place with one action.

import type { Signal } from '@preact/signals';
import { type Folder, isSearch } from '../files/folder.ts';
import { texts } from '../language.ts';
import { Failure } from '../parts/failure.tsx';
import { Icon } from '../parts/icon.tsx';
import { addressOf } from '../route.ts';
import { ChooseFiles, type Target } from './drop-area.tsx';
import { isSearched, type Search, searchOf } from './filter-box.tsx';

interface StateProps {
  readonly folder: Folder;
  readonly target: Target;
  readonly mayWrite: boolean;
  /** The text of the search field. */
  readonly text: Signal<string>;
  readonly search: Signal<Search | undefined>;
}

export function FolderState(props: StateProps) {
  const { folder, mayWrite } = props;
  const { length } = folder.entries.value;
  const { value: state } = folder.state;
  const { value: failure } = folder.failure;
  const isBlank = length === 0 && (state === 'complete' || failure !== undefined);
  const { files: words } = texts();
  const empty = mayWrite ? words.emptyForWriters : words.empty;
  return (
    <div class={isBlank ? 'blank' : undefined}>
      {isBlank && <Icon name={failure ? 'warning' : isSought(props) ? 'search' : 'folder'} />}
      <Failure text={failure} onRetry={() => void folder.loadMore()} />
      <p class="state" role="status">
        {state === 'loading' && loadingWords(folder)}
        {state === 'complete' && length === 0 && (isSought(props) ? words.notFound : empty)}
        {state === 'complete' && length > 0 && summaryOf(folder)}
        {state === 'more' && length > 0 && partWords(folder)}
      </p>
      {isBlank && !failure && <NextStep {...props} />}
    </div>
  );
}

function isSought({ folder }: StateProps): boolean {
  return folder.filter.value !== '' || isSearch(folder.place);
}

/** Searches further, takes the first file, or leads back. */
function NextStep(props: StateProps) {
  const { folder, target, mayWrite, text, search } = props;
  const { files: words } = texts();
  if (!isSought(props)) {
    if (mayWrite) return <ChooseFiles label={words.choose} target={target} isPlain />;
    return (
      <a class="button" href={addressOf({ view: 'overview' })}>
        {words.buckets}
      </a>
    );
  }
  if (isSearched(text.value, search.value) && search.value?.prefix !== '') {
    const widen = () => {
      search.value = searchOf(text.value, '');
    };
    return (
      <button type="button" onClick={widen}>
        {words.searchBucket}
      </button>
    );
  }
  const clear = () => {
    text.value = '';
    search.value = undefined;
    folder.setFilter('');
  };
  return (
    <button type="button" onClick={clear}>
      {words.clearSearch}
    </button>
  );
}

function loadingWords({ place, searchedCount, entries }: Folder): string {
  const { page, files } = texts();
  if (place.name === undefined || searchedCount.value === 0) return page.loading;
  return files.searching(searchedCount.value, entries.value.length);
}

/** Sizes and dates are compared here, so their order is that of the loaded entries only. */
function partWords({ entries, sort }: Folder): string {
  const { part, sortedPart } = texts().files;
  return (sort.value.field === 'name' ? part : sortedPart)(entries.value.length);
}

function summaryOf(folder: Folder): string {
  const entries = folder.entries.value;
  const folders = entries.filter(({ isFolder }) => isFolder).length;
  const files = entries.length - folders;
  const { files: words } = texts();
  if (folder.place.name !== undefined) return words.found(files, folder.searchedCount.value);
  return folders === 0 ? words.count(files) : words.countWithFolders(folders, files);
}
