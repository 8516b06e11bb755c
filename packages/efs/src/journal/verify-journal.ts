// `efs journal verify`: proves that nothing in the journal was changed.

import { readFile } from 'node:fs/promises';
import { replaceFile } from '../../../client/src/node/replace-file.ts';
import type { JournalTip, VerifiedJournal } from '../../../client/src/types/journal.ts';
import type { Run } from '../config/run.ts';
import { printResult } from '../output/output.ts';
import { startCount } from '../output/progress-bar.ts';
import { UsageError } from '../output/usage-error.ts';

interface VerifyFlags {
  readonly tip?: string;
}

export async function verifyJournal(
  run: Run,
  bucket: string,
  { tip: file }: VerifyFlags,
): Promise<void> {
  const since = file === undefined ? undefined : await readTip(file);
  const { journal } = await run.manager();
  const progress = startCount('blocks', run.isQuiet);
  const verified = await journal
    .verify({
      ...{ bucket, since, signal: run.signal },
      onProgress: ({ blocks, blockCount }) => progress.report(blocks, blockCount),
    })
    .finally(progress.stop);
  if (file !== undefined) await replaceFile(file, `${JSON.stringify(verified.tip, null, 2)}\n`);
  printResult(verified, sentenceOf(bucket, verified, since));
}

function sentenceOf(
  bucket: string,
  { tip, first, blocks, entries }: VerifiedJournal,
  since: JournalTip | undefined,
): string {
  const former =
    since === undefined ? '' : `, nothing up to block ${since.index} of the former tip has changed`;
  const from = first === 0 ? '' : ` from block ${first}, before which none is stored,`;
  return (
    `The ${blocks} blocks of the journal of ${tip.canisterId} form one chain${from} up to block ` +
    `${tip.index} (${tip.hash}), which the network has certified${former}, and the ${entries} ` +
    `entries that the service shows of bucket ${bucket} match their blocks.`
  );
}

/** Returns `undefined` if the file does not exist yet. */
async function readTip(file: string): Promise<JournalTip | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const tip = parsed(text);
  if (tip !== undefined) return tip;
  throw new UsageError(
    `${file} has no tip of a journal: pass the file that efs journal verify --tip has written, or ` +
      'a new name.',
  );
}

function parsed(text: string): JournalTip | undefined {
  try {
    const { canisterId, index, hash } = JSON.parse(text);
    const isTip = typeof canisterId === 'string' && /^[0-9a-f]{64}$/.test(hash);
    return isTip && Number.isSafeInteger(index) ? { canisterId, index, hash } : undefined;
  } catch {
    return undefined;
  }
}
