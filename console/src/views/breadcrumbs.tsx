// The path of the current folder, each part a link.

import { addressOf } from '../route.ts';

export function Breadcrumbs({ bucket, path }: { bucket: string; path: string }) {
  const parts = path.split('/').filter((part) => part !== '');
  const steps = parts.map((name, index) => ({
    name,
    prefix: `${parts.slice(0, index + 1).join('/')}/`,
  }));
  const all = [{ name: bucket, prefix: '' }, ...steps];
  return (
    <nav aria-label="Folders" class="crumbs">
      <ol>
        {all.slice(0, -1).map(({ name, prefix }) => (
          <li key={prefix}>
            <a href={addressOf({ view: 'files', bucket, prefix })}>{name}</a>
          </li>
        ))}
        <li>
          <h1 tabIndex={-1} aria-current="page">
            {all.at(-1)?.name}
          </h1>
        </li>
      </ol>
    </nav>
  );
}
