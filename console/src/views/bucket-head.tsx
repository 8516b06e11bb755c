// The header of the pages of a bucket: the path, and a tab for each of its pages.

import type { ComponentChildren } from 'preact';
import { texts } from '../language.ts';
import { addressOf, type Route } from '../route.ts';
import { Breadcrumbs } from './breadcrumbs.tsx';
import type { Rights } from './bucket-role.ts';
import type { MoveInto } from './drag.ts';

interface BucketHeadProps {
  readonly place: Extract<Route, { view: 'files' | 'deleted' | 'activity' | 'bucket' }>;
  readonly rights: Rights;
  /** If given, entries can be dropped on the path. */
  readonly onMove?: MoveInto;
  /** Beside the path. */
  readonly children?: ComponentChildren;
}

export function BucketHead({ place, rights, onMove, children }: BucketHeadProps) {
  const { bucket, view } = place;
  const { tabs: words } = texts();
  const isFiles = view === 'files';
  const tab = (to: Route, label: string, isOffered: boolean) =>
    (isOffered || to.view === view) && (
      <a href={addressOf(to)} aria-current={to.view === view ? 'page' : undefined}>
        {label}
      </a>
    );
  return (
    <header class="bucket-head">
      <div class="files-head">
        <Breadcrumbs
          bucket={bucket}
          path={isFiles ? place.prefix : ''}
          page={isFiles ? undefined : words[view]}
          onMove={onMove}
        />
        {children}
      </div>
      <nav class="tabs" aria-label={bucket}>
        {tab({ view: 'files', bucket, prefix: '' }, words.files, true)}
        {tab({ view: 'deleted', bucket }, words.deleted, rights.keepsVersions)}
        {tab({ view: 'activity', bucket }, words.activity, rights.maySeeActivity)}
        {tab({ view: 'bucket', bucket }, words.bucket, rights.maySeeSettings)}
      </nav>
    </header>
  );
}
