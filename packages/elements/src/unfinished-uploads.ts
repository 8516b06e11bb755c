// Remembers unfinished uploads across reloads, in the browser's storage: for each a digest of the
// file's name, size and date with the address, and the upload's id. Neither is a secret: an upload
// can only be continued with its link or key.

const storageKey = 'efs-upload';
const rememberedMax = 50;
type Row = readonly [digest: string, id: string];

export interface RememberedUpload {
  readonly id: string | undefined;
  remember(id: string): void;
  forget(): void;
}

/** Remembers nothing on pages without HTTPS, which have no digests, or without storage. */
export async function rememberedUpload(words: readonly unknown[]): Promise<RememberedUpload> {
  const digest = await digestOf(JSON.stringify(words));
  const others = () => read().filter(([other]) => other !== digest);
  return {
    id: read().find(([other]) => other === digest)?.[1],
    remember: (id) => {
      if (digest !== '') write([...others(), [digest, id]]);
    },
    forget: () => write(others()),
  };
}

async function digestOf(text: string): Promise<string> {
  if (globalThis.crypto?.subtle === undefined) return '';
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return btoa(String.fromCharCode(...new Uint8Array(digest)));
}

function read(): readonly Row[] {
  try {
    const rows: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '[]');
    return Array.isArray(rows) ? rows.filter(isRow) : [];
  } catch {
    return [];
  }
}

function isRow(row: unknown): row is Row {
  return Array.isArray(row) && typeof row[0] === 'string' && isUploadId(row[1]);
}

/** An id becomes part of a path. */
export function isUploadId(id: unknown): id is string {
  return typeof id === 'string' && /^[0-9a-f]{1,64}$/.test(id);
}

function write(rows: readonly Row[]): void {
  try {
    if (rows.length === 0) localStorage.removeItem(storageKey);
    else localStorage.setItem(storageKey, JSON.stringify(rows.slice(-rememberedMax)));
  } catch {
    // The upload then begins again after a reload.
  }
}
