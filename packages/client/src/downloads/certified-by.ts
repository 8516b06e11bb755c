// Downloads that are compared with signed records; the code is loaded with the first one.

import type { Connection } from '../connection/connection.ts';
import type { DownloadFile } from './certified-download.ts';

/** Returns `download` with support for `certified`, which most downloads do not use. */
export function certifiedBy(connection: Connection, download: DownloadFile): DownloadFile {
  return async (name, options) => {
    if (!options?.certified) return download(name, options);
    const { certifiedDownload } = await import('./certified-download.ts');
    return certifiedDownload(connection, { name, options, download });
  };
}
