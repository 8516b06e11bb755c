// The actor method that explains the interface to programs and agents.

import { IDL } from '@dfinity/candid';
import { readBuiltText } from '../../domain/administration/console-pages.ts';
import { concatBytes } from '../../lib/bytes.ts';
import { leb128 } from '../../lib/leb128.ts';
import { messageHead } from '../candid/result.ts';
import { decodeArguments, query } from '../dispatch/method.ts';
import { replyBytes } from '../messages/native-reply.ts';

const signature = { name: 'getApiDoc', parameters: [] };
const head = messageHead(IDL.Text);

/** The guide: what types do not say, for programs and agents. */
export class ApiDocActor {
  /** Explains authentication, units, uploads, errors and irreversible calls, in Markdown. */
  @query([], IDL.Text, { manual: true })
  getApiDoc(): void {
    if (decodeArguments(signature) === undefined) return;
    const text = readBuiltText('api-doc');
    replyBytes(concatBytes(head, leb128(text.length)), text);
  }
}
