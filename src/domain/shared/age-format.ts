// The part of age (C2SP, age-encryption.org/v1), the format of end-to-end encrypted files, that the
// service checks: the beginning of a file and the form of recipients. It decrypts nothing.

import { byteString } from '../../lib/bytes.ts';
import { ownRecipientCountMax, recipientLengthMax } from '../../limits.ts';
import { Refusal } from './refusal.ts';

/** The type that IANA registered; senders cannot change it. */
export const ageContentType = 'application/age';

/** The version line and the mark of the first stanza, which begin every file. */
const ageStart = 'age-encryption.org/v1\n-> ';

/** Refuses a file, or the beginning of one, that does not begin like an age file. */
export function requireAgeStart(bucketId: string, bytes: Uint8Array): void {
  if (byteString(bytes.subarray(0, ageStart.length)) === ageStart) return;
  throw notEncrypted(bucketId);
}

/** Refuses a size that no age file can have. */
export function requireAgeSize(bucketId: string, size: number): void {
  if (size < ageStart.length) throw notEncrypted(bucketId);
}

function notEncrypted(bucketId: string): Refusal {
  return new Refusal(
    'NotEncrypted',
    `Bucket ${bucketId} is end-to-end encrypted and accepts only age files: use efs put, which ` +
      'encrypts the file, or encrypt it first with age -r and each recipient of the bucket. The ' +
      `first chunk must have at least ${ageStart.length} bytes.`,
  );
}

// Bech32 (BIP 173) in lower case; names of plugins are part of it, such as age1yubikey1…. Clients
// check the checksum before they encrypt; for a long recipient, computing it here would cost more
// than a refused call may.
const recipientPattern = /age1[0-9a-z-]{20,}$/y;
const derivedPattern = /age1[02-9ac-hj-np-z]{58}$/y;

/** Parses an owner's list. A refusal does not repeat the value, which could be a secret. */
export function parseRecipients(recipients: readonly string[]): string[] {
  const distinct = [...new Set(recipients)];
  if (distinct.length > ownRecipientCountMax) {
    throw new Refusal(
      'InvalidArgument',
      `A bucket has at most ${ownRecipientCountMax} recipients that its owners list.`,
      { limit: ownRecipientCountMax },
    );
  }
  distinct.forEach((recipient, index) => {
    if (isRecipient(recipient)) return;
    const isSecret = /AGE-SECRET-KEY-|AGE-PLUGIN-/iy.test(recipient);
    throw new Refusal(
      'InvalidArgument',
      isSecret
        ? `Recipient ${index} is an identity, which is secret: send the output of age-keygen -y, and ` +
            'make a new identity, because this one was sent.'
        : `Recipient ${index} is not an age recipient: use age1… in lower case, of at most ${recipientLengthMax} ` +
            'characters.',
    );
  });
  return distinct;
}

function isRecipient(text: string): boolean {
  recipientPattern.lastIndex = 0;
  return text.length <= recipientLengthMax && recipientPattern.test(text);
}

/** Parses the X25519 recipient of a derived identity. */
export function parseDerivedRecipient(text: string): string {
  derivedPattern.lastIndex = 0;
  if (text.length <= recipientLengthMax && derivedPattern.test(text)) return text;
  throw new Refusal(
    'InvalidArgument',
    'The recipient must be age1 and 58 characters, derived from the identity of the bucket.',
  );
}
