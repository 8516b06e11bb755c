// Style sheets of the elements. They are adopted, so a Content-Security-Policy needs no
// 'unsafe-inline'. `light-dark()` follows the page's `color-scheme`.

/** Variables without a prefix are the elements' own; a page sets those that begin with --efs. */
const common = `
:host {
  --background: var(--efs-background, Canvas);
  --surface: var(--efs-surface, light-dark(#f3f3f6, #2a2a30));
  --text: var(--efs-text, CanvasText);
  --muted: var(--efs-muted, light-dark(#55555f, #b4b4bf));
  --border: var(--efs-border, #85858f);
  --accent: var(--efs-accent, light-dark(#0b57d0, #a8c7fa));
  --on-accent: var(--efs-on-accent, light-dark(#fff, #062e6f));
  --error: var(--efs-error, light-dark(#b3261e, #f2b8b5));
  --radius: var(--efs-radius, 0.5rem);
  --gap: var(--efs-gap, 0.75rem);
  display: block;
  box-sizing: border-box;
  color: var(--text);
  background: var(--background);
}
:host([hidden]) { display: none; }
* { box-sizing: border-box; }
p, ul, ol { margin: 0; padding: 0; }
ul, ol { list-style: none; }
[hidden] { display: none !important; }
.quiet {
  position: absolute;
  inline-size: 1px;
  block-size: 1px;
  overflow: hidden;
  clip-path: inset(50%);
  white-space: nowrap;
}
.button {
  font: inherit;
  padding: 0.4rem 0.9rem;
  min-block-size: 2.25rem;
  border: 1px solid var(--border);
  border-radius: var(--radius);
  background: var(--background);
  color: var(--text);
  cursor: pointer;
}
.button.main { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
.button:disabled { opacity: 0.5; cursor: default; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.name { overflow-wrap: anywhere; }
.note, .size { color: var(--muted); font-size: 0.875em; }
.error { color: var(--error); }
.error:empty { display: none; }
a { color: var(--accent); }
.sign {
  display: grid;
  place-items: center;
  color: var(--muted);
  background: var(--surface);
  font-weight: 600;
  overflow: hidden;
}
`;

export const uploadCss = `${common}
:host { position: relative; padding: var(--gap); border-radius: var(--radius); }
.drop {
  display: grid;
  gap: var(--gap);
  justify-items: center;
  padding: 2rem var(--gap);
  border: 2px dashed var(--border);
  border-radius: var(--radius);
  text-align: center;
}
.drop.over { border-color: var(--accent); background: var(--surface); }
.list { display: grid; gap: var(--gap); }
.list:not(:empty), p.error { margin-block-start: var(--gap); }
.item {
  display: grid;
  grid-template-columns: 1fr auto;
  gap: 0.25rem var(--gap);
  align-items: center;
  padding: 0.5rem 0.75rem;
  border: 1px solid var(--border);
  border-radius: var(--radius);
}
.progress { inline-size: 100%; accent-color: var(--accent); }
.actions { display: flex; gap: 0.5rem; grid-row: 1 / span 3; grid-column: 2; }
.item > :not(.actions) { grid-column: 1; min-inline-size: 0; }
`;

export const galleryCss = `${common}
:host { position: relative; padding: var(--gap); border-radius: var(--radius); }
.folders { display: flex; flex-wrap: wrap; gap: 0.5rem; margin-block-end: var(--gap); }
.grid {
  display: grid;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, var(--efs-tile, 10rem)), 1fr));
  gap: var(--gap);
}
.tile {
  font: inherit;
  display: grid;
  grid-template-rows: auto 1fr auto;
  gap: 0.25rem;
  inline-size: 100%;
  block-size: 100%;
  padding: 0.5rem;
  border: 1px solid var(--border);
  border-radius: var(--radius);
  background: var(--background);
  color: var(--text);
  text-align: start;
  text-decoration: none;
  cursor: pointer;
}
.picture, .tile .sign { inline-size: 100%; aspect-ratio: 1; border-radius: var(--radius); }
.picture { object-fit: cover; background: var(--surface); }
.tile .name {
  display: -webkit-box;
  -webkit-box-orient: vertical;
  -webkit-line-clamp: 2;
  overflow: hidden;
}
.message { padding-block: var(--gap); }
.message:empty { display: none; }
.more { margin-block-start: var(--gap); }
.dialog {
  inline-size: min(70rem, 100vw - 2rem);
  max-inline-size: none;
  padding: var(--gap);
  border: 1px solid var(--border);
  border-radius: var(--radius);
  background: var(--background);
  color: var(--text);
}
.dialog::backdrop { background: rgb(0 0 0 / 60%); }
.bar { display: flex; flex-wrap: wrap; gap: 0.5rem; margin-block-end: var(--gap); }
.bar > :last-child { margin-inline-start: auto; }
`;

export const fileCss = `${common}
.box { display: grid; gap: var(--gap); padding: var(--gap); justify-items: start; }
.picture, .video { max-inline-size: 100%; max-block-size: var(--efs-preview, 70vh); }
.audio { inline-size: 100%; }
.content {
  inline-size: 100%;
  max-block-size: var(--efs-preview, 70vh);
  margin: 0;
  padding: var(--gap);
  overflow: auto;
  background: var(--surface);
  border-radius: var(--radius);
  white-space: pre-wrap;
  overflow-wrap: anywhere;
}
.card { display: flex; flex-wrap: wrap; gap: 0.25rem var(--gap); align-items: baseline; }
`;

const sheets = new Map<string, CSSStyleSheet>();

/** All elements of a kind share one sheet. */
export function adopt(root: ShadowRoot, css: string): void {
  const sheet = sheets.get(css) ?? new CSSStyleSheet();
  if (!sheets.has(css)) sheet.replaceSync(css);
  sheets.set(css, sheet);
  root.adoptedStyleSheets = [sheet];
}
