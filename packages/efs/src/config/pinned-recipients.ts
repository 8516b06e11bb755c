// Pinned digests of recipients, and their replacement when the user accepts other recipients.

import type { EndToEndOptions } from '../../../client/src/types/end-to-end.ts';
import { isJson } from '../output/json-output.ts';
import { printNote } from '../output/output.ts';
import { UsageError } from '../output/usage-error.ts';
import { type Environment, profileNamed, readProfiles, writeProfiles } from './profiles.ts';

/** Digests by bucket. */
export type PinnedRecipients = Readonly<Record<string, string>>;

/** Parses `bucket=digest`. */
export function parsePins(texts: readonly string[]): PinnedRecipients {
  return Object.fromEntries(
    texts.map((text) => {
      const [, bucket, digest] = /^([\w-]{1,64})=([\w-]{43}|none)$/.exec(text) ?? [];
      if (bucket !== undefined && digest !== undefined) return [bucket, digest];
      throw new UsageError(
        `Pinned recipients must be BUCKET=DIGEST, with a digest of 43 characters or the word none; got ` +
          `${text}. The owner of the bucket gets the digest from efs identity show BUCKET.`,
      );
    }),
  );
}

interface Accepting {
  readonly acceptsRecipients: boolean;
  readonly environment: Environment;
  readonly profile: string | undefined;
}

/** Returns undefined without --accept-recipients: then other recipients are refused. */
export function accepting(by: Accepting): EndToEndOptions['acceptRecipients'] {
  if (!by.acceptsRecipients) return undefined;
  let pinned = Promise.resolve();
  return async ({ bucket, actual }) => {
    const { environment, profile } = by;
    if (profile !== undefined) {
      // One after another: each replaces the file that it has read.
      const pin = () => pinInProfile(environment, profile, { bucket, actual });
      pinned = pinned.then(pin, pin);
      await pinned;
    }
    if (!isJson()) printNote(`Accepted the recipients of bucket ${bucket}: ${actual}`);
    return true;
  };
}

/** Replaces the bucket's digest in the profile, if it has one. */
async function pinInProfile(
  environment: Environment,
  name: string,
  { bucket, actual }: { readonly bucket: string; readonly actual: string },
): Promise<void> {
  const stored = readProfiles(environment);
  const profile = profileNamed(stored, name);
  const { pinnedRecipients = {} } = profile;
  if (!Object.hasOwn(pinnedRecipients, bucket)) return;
  const changed = { ...profile, pinnedRecipients: { ...pinnedRecipients, [bucket]: actual } };
  await writeProfiles(environment, {
    ...stored,
    profiles: { ...stored.profiles, [name]: changed },
  });
}
