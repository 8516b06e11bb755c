// The configuration of the S3 server's account for each access key, and for unsigned requests.

import type { Credential } from '../../../s3/src/index.ts';
import { S3Error } from '../../../s3/src/s3-error.ts';
import { type Configuration, readConfiguration } from '../config/config.ts';
import { type Environment, readProfiles } from '../config/profiles.ts';

export function configurationFor(
  served: Configuration,
  credential: Credential | undefined,
): Configuration {
  if (credential === undefined) return anonymous(served);
  const { access } = credential;
  const { environment } = served;
  if ('profile' in access) {
    if (!Object.hasOwn(readProfiles(environment).profiles, access.profile)) {
      throw new S3Error('InvalidAccessKeyId', 'The profile of this access key was removed.');
    }
    return readConfiguration({ profile: access.profile }, environment);
  }
  const { url, apiKey } = access;
  const way = served.transport === 'http' ? { transport: 'http' } : {};
  const named = readConfiguration({ url, apiKey, ...way }, withoutService(environment));
  return { ...named, identity: undefined, identityPem: undefined };
}

/** Returns the served configuration without a caller and without what decrypts, for anybody. */
function anonymous(served: Configuration): Configuration {
  const nobody = { apiKey: undefined, identity: undefined, identityPem: undefined };
  return { ...served, ...nobody, ageIdentity: undefined, transport: 'actor' };
}

/** The environment without the service, because the access key determines the caller. */
function withoutService(environment: Environment): Environment {
  const named = ['URL', 'HOST', 'CANISTER_ID', 'FRONT_ID', 'API_KEY', 'IDENTITY', 'TRANSPORT'];
  return { ...environment, ...Object.fromEntries(named.map((name) => [`EFS_${name}`, undefined])) };
}
