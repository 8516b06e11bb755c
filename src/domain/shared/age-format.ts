// The part of age (C2SP, age-encryption.org/v1), the format of end-to-end encrypted files, that the
// service knows: the head of a file, and the form of recipients. It decrypts none.

import { byteString } from '../../lib/bytes.ts';
import { ownRecipientCountMax, recipientLengthMax } from '../../limits.ts';
import { Refusal } from './refusal.ts';

/** As IANA has it; whatever a sender says. */
export const ageContentType = 'application/age';

/** The line of the version, and the mark of the first stanza: every file has one. */
const ageStart = 'age-encryption.org/v1\n-> ';

/** Refuses bytes, of the beginning of a file or all of it, that no age file begins with. */
export function requireAgeStart(bucketId: string, bytes: Uint8Array): void {
  if (byteString(bytes.subarray(0, ageStart.length)) === ageStart) return;
  throw notEncrypted(bucketId);
}

/** Refuses a size that no age file has. */
export function requireAgeSize(bucketId: string, size: number): void {
  if (size < ageStart.length) throw notEncrypted(bucketId);
}

function notEncrypted(bucketId: string): Refusal {
  return new Refusal(
    'NotEncrypted',
    `Bucket ${bucketId} is end-to-end encrypted and accepts only age files: use efs put, which ` +
      'encrypts it, or encrypt it first, with age -r and each recipient of the bucket. A first chunk ' +
      `has at least ${ageStart.length} bytes.`,
  );
}

// Bech32 (BIP 173) in lower case. Its checksum is left to clients, which notice a wrong one before
// they encrypt: to compute that of a long recipient would take a refused call beyond its bound.
// Names of plugins stand in it too, such as age1yubikey1….
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

/** The recipient of an identity that was derived: an X25519 one. */
export function parseDerivedRecipient(text: string): string {
  derivedPattern.lastIndex = 0;
  if (text.length <= recipientLengthMax && derivedPattern.test(text)) return text;
  throw new Refusal(
    'InvalidArgument',
    'The recipient must be age1 and 58 characters, derived from the identity of the bucket.',
  );
}
