// The password of a link: from the environment or the terminal, never from an argument, which other
// users of the machine can see.

import { needsPassword } from '../../../client/src/open-link.ts';
import { UsageError } from '../output/usage-error.ts';
import { askHidden, hasTerminal } from './passphrase.ts';

function given(): string | undefined {
  return process.env.EFS_LINK_PASSWORD || undefined;
}

/** Returns the password of an address that needs one, else `undefined`. */
export async function passwordFor(address: string): Promise<string | undefined> {
  if (!needsPassword(address)) return undefined;
  return given() ?? ask('Password of the link: ');
}

/** Returns the password of a new link, which a person types twice. */
export async function newPassword(): Promise<string> {
  const sent = given();
  if (sent !== undefined) return sent;
  const typed = await ask('Password of the new link: ');
  if (typed === '') throw new UsageError('The password of a link must not be empty.');
  if ((await ask('The same password again: ')) === typed) return typed;
  throw new UsageError('The two passwords differ: no link was made.');
}

async function ask(question: string): Promise<string> {
  if (hasTerminal()) return askHidden(question);
  throw new UsageError(
    'The link needs a password, and no terminal can ask for it: set EFS_LINK_PASSWORD.',
  );
}
