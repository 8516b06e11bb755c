// Reads secrets that a person types, without showing or storing them.

import { readFileSync } from 'node:fs';
import { StorageError } from '../../../client/src/storage-error.ts';
import { UsageError } from '../output/usage-error.ts';

export interface Terminal {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
}

const theTerminal = (): Terminal => ({ input: process.stdin, output: process.stderr });

export function hasTerminal({ input, output }: Terminal = theTerminal()): boolean {
  return input.isTTY === true && output.isTTY === true;
}

const interrupt = '\x03';
const endOfInput = '\x04';
const erasures: ReadonlySet<string> = new Set(['\x08', '\x7f']);

/** Reads a line without showing it; Ctrl-C and Ctrl-D cancel. */
export function askHidden(question: string, terminal: Terminal = theTerminal()): Promise<string> {
  const { input, output } = terminal;
  return new Promise((resolve, reject) => {
    const typed: string[] = [];
    output.write(question);
    input.setRawMode(true);
    input.setEncoding('utf8');
    input.on('data', read);
    input.resume();

    function end(): void {
      input.off('data', read);
      input.setRawMode(false);
      input.pause();
      output.write('\n');
    }
    function read(text: string): void {
      for (const character of text) {
        if (character === '\r' || character === '\n') {
          end();
          resolve(typed.join(''));
          return;
        }
        if (character === interrupt || character === endOfInput) {
          end();
          reject(new StorageError('Aborted', 'No passphrase was entered: stopped.'));
          return;
        }
        if (erasures.has(character)) typed.pop();
        else typed.push(character);
      }
    }
  });
}

/** Returns the text of a file without a line break at its end. */
export function readSecretFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    const { message } = error as Error;
    throw new UsageError(`The passphrase in ${path} cannot be read: ${message}`);
  }
}
