// Texts at /.well-known/ by which programs and agents that know only an address find the service's
// canisters and their interfaces: service discoverability for apps of the Internet Computer
// (docs.internetcomputer.org/guides/frontends/service-discoverability).

import { readBuiltText } from '../domain/administration/console-pages.ts';
import {
  type FrontRole,
  networkUrl,
  type ServiceRole,
  type VolumeRole,
} from '../domain/shared/service-role.ts';
import { concatBytes } from '../lib/bytes.ts';
import { encodeUtf8 } from '../lib/text.ts';
import { publicFields } from './console.ts';
import { jsonPage, type Page, pageOf, wellKnownFolder } from './page.ts';

interface ListedCanister {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly description: string;
}

const front = {
  role: 'front',
  description:
    'Console and list of volumes of an encrypted file storage. Stores no files. createBucket ' +
    'creates a bucket at a volume. Call getApiDoc first.',
};
const volume = {
  role: 'volume',
  description: 'Encrypted file storage: buckets, files, links, API keys. Call getApiDoc first.',
};

/** Lists the canisters of the service, at most 17, of which the first is this one. */
export function architecturePage(role: ServiceRole): Page {
  return jsonPage(`${wellKnownFolder}ic-architecture`, () => ({
    version: '1.0.0',
    canisters: role.kind === 'front' ? canistersOfFront(role) : canistersOfVolume(role),
  }));
}

function canistersOfFront({ id, volumes }: FrontRole): ListedCanister[] {
  const listed = volumes.map((volumeId, index) => {
    return { id: volumeId, name: `volume-${index + 1}`, ...volume };
  });
  return [{ id, name: 'front', ...front }, ...listed];
}

function canistersOfVolume(role: VolumeRole): ListedCanister[] {
  const own = { id: role.id, name: 'volume', ...volume };
  return role.front === undefined ? [own] : [own, { id: role.front.id, name: 'front', ...front }];
}

/**
 * The origin for which Internet Identity makes the principals of a front's console. It holds at the
 * addresses in ii-alternative-origins; elsewhere, also on a local network, the page's own origin is
 * used. A text of a controller replaces it, and the console reads it too.
 */
export function derivationPage({ id }: FrontRole): Page {
  const body = () => encodeUtf8(`${networkUrl(id)}\n`);
  const fields = publicFields('text/plain; charset=utf-8');
  return pageOf(`${wellKnownFolder}ii-derivation-origin`, body, fields);
}

/**
 * Describes methods as tools of agents, in the form of DFINITY's webmcp. The build makes all of it
 * but the id. Its rest begins after `"canister":{` (scripts/console.ts).
 */
export function toolsPage({ kind, id }: ServiceRole): Page {
  const head = `{"schema_version":"1.0","canister":{"id":"${id}",`;
  const body = () => concatBytes(encodeUtf8(head), readBuiltText(`webmcp-${kind}`));
  return pageOf(`${wellKnownFolder}webmcp.json`, body, publicFields('application/json'));
}
