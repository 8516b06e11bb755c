// Replaces age and age-keygen in pages, using the library of age's author; `npm run clients` runs
// the program itself. It supports only the arguments that the pages use.

import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';

const options = {
  decrypt: { type: 'boolean', short: 'd' },
  identity: { type: 'string', short: 'i' },
  recipient: { type: 'string', short: 'r' },
  output: { type: 'string', short: 'o' },
  convert: { type: 'boolean', short: 'y' },
} as const;

function identitiesIn(path: string): string[] {
  return readFileSync(path, 'utf8').match(/^AGE-SECRET-KEY-1\S+$/gm) ?? [];
}

async function main(): Promise<void> {
  const [, , program = '', ...words] = process.argv;
  const { values, positionals } = parseArgs({ args: words, options, allowPositionals: true });
  const write = (bytes: Uint8Array | string) => writeFileSync(values.output ?? 1, bytes);
  const [path] = positionals;
  if (program === 'age-keygen') {
    const identities = values.convert ? identitiesIn(path ?? '') : [await generateX25519Identity()];
    if (!values.convert) return write(`${identities[0]}\n`);
    return write(`${(await Promise.all(identities.map(identityToRecipient))).join('\n')}\n`);
  }
  const bytes = readFileSync(path ?? 0);
  if (!values.decrypt) {
    const encrypter = new Encrypter();
    encrypter.addRecipient(values.recipient ?? '');
    return write(await encrypter.encrypt(bytes));
  }
  const decrypter = new Decrypter();
  for (const identity of identitiesIn(values.identity ?? '')) decrypter.addIdentity(identity);
  write(await decrypter.decrypt(bytes));
}

await main();
