// The target of a mirror: a bucket of the same service, of a profile, or at an address.

import { type Configuration, type GlobalOptions, readConfiguration } from '../config/config.ts';
import type { Environment } from '../config/profiles.ts';
import { UsageError } from '../output/usage-error.ts';

export interface OtherBucket {
  readonly bucket: string;
  readonly configuration: Configuration;
}

const forms =
  'PROFILE:BUCKET, the address of the other canister with the bucket, such as ' +
  'https://<canister id>.icp.net/BUCKET, or a bucket of the same service';

/** Variables that name the source's service. */
const serviceVariables = ['URL', 'HOST', 'CANISTER_ID', 'FRONT_ID', 'API_KEY', 'PROFILE'];

export function otherBucket(
  text: string,
  flags: GlobalOptions,
  environment: Environment,
): OtherBucket {
  const { identity, identityPassphraseFile, timeout } = flags;
  if (/^https?:\/\//i.test(text)) {
    const { origin, bucket } = partsOf(text);
    const cleared = Object.fromEntries(serviceVariables.map((name) => [`EFS_${name}`, undefined]));
    const named = { url: origin, identity, identityPassphraseFile, timeout };
    return { bucket, configuration: readConfiguration(named, { ...environment, ...cleared }) };
  }
  const [first = '', second, ...others] = text.split(':');
  const bucket = second ?? first;
  if (bucket === '' || bucket.includes('/') || others.length > 0) throw wrongTarget(text);
  if (second === undefined) return { bucket, configuration: readConfiguration(flags, environment) };
  const named = { profile: first, identityPassphraseFile, timeout };
  return { bucket, configuration: readConfiguration(named, environment) };
}

function partsOf(text: string) {
  const { origin, pathname } = URL.canParse(text) ? new URL(text) : { origin: '', pathname: '' };
  const [bucket = '', ...others] = pathname.slice(1).replace(/\/$/, '').split('/');
  if (origin === '' || bucket === '' || others.length > 0) throw wrongTarget(text);
  return { origin, bucket };
}

function wrongTarget(text: string): UsageError {
  return new UsageError(`"${text}" names no bucket to mirror to: write ${forms}.`);
}
