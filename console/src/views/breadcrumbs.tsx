// The path from the list of buckets to the current page, each part before it a link.

import { texts } from '../language.ts';
import { addressOf } from '../route.ts';
import { session } from '../session.ts';
import { dropTarget, isHovered, type MoveInto } from './drag.ts';

interface Step {
  readonly name: string;
  /** Ends in a slash; '' for the bucket. */
  readonly prefix: string;
}

/** Returns the bucket and the folders down to the path, outermost first. */
export function stepsOf(bucket: string, path: string): Step[] {
  const parts = path.split('/').filter((part) => part !== '');
  const steps = parts.map((name, index) => ({
    name,
    prefix: `${parts.slice(0, index + 1).join('/')}/`,
  }));
  return [{ name: bucket, prefix: '' }, ...steps];
}

interface BreadcrumbsProps {
  /** Absent for a page that belongs to no bucket. */
  readonly bucket?: string | undefined;
  /** The folder or the file. */
  readonly path?: string | undefined;
  /** Name of the page if it is another than that of the path. */
  readonly page?: string | undefined;
  /** If given, entries can be dropped on the links. */
  readonly onMove?: MoveInto;
}

/** Leaves out the folders above the one that a link shows. */
function within(steps: readonly Step[], folder = ''): readonly Step[] {
  return steps.filter(({ prefix }) => prefix.startsWith(folder));
}

export function Breadcrumbs({ bucket = '', path = '', page, onMove }: BreadcrumbsProps) {
  const all = bucket === '' ? [] : stepsOf(bucket, path);
  const name = page ?? all.pop()?.name;
  const shared = session.value?.shared;
  const { files } = texts();
  return (
    <nav aria-label={files.folders} class="crumbs">
      <ol>
        {shared === undefined && (
          <li>
            <a href={addressOf({ view: 'overview' })}>{files.buckets}</a>
          </li>
        )}
        {within(all, shared?.folder).map(({ name, prefix }) => (
          <li
            key={prefix}
            class={isHovered(prefix) ? 'over' : undefined}
            {...dropTarget(prefix, onMove)}
          >
            <a href={addressOf({ view: 'files', bucket, prefix })}>
              <bdi>{name}</bdi>
            </a>
          </li>
        ))}
        <li>
          <h1 tabIndex={-1} aria-current="page">
            <bdi>{name}</bdi>
          </h1>
        </li>
      </ol>
    </nav>
  );
}
