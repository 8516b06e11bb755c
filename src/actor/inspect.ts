// Which direct ingress the canister takes and pays for. Every update is met here first, by one node
// and within 200 M instructions; calls of other canisters are not. Decodes no more than it needs
// and never by the library. IC spec, "Ingress message inspection".

import { inspectMessage, msgArgData, msgMethodName, trap } from 'azle';
import { authorize } from '../domain/access.ts';
import { isAnonymous } from '../domain/caller.ts';
import { Refusal } from '../domain/refusal.ts';
import { checkChunk } from '../domain/upload-chunks.ts';
import { handleRequest, upgrade } from '../http/router.ts';
import { routes } from '../http/routes.ts';
import { smallArgumentBytesMax, uncheckedArgumentBytesMax } from '../limits.ts';
import { isModestArgument } from './argument-guard.ts';
import { readChunk, readRequest } from './bulk-messages.ts';
import { currentCall } from './call.ts';
import { CandidReader } from './candid-reader.ts';
import { needsUpdate } from './certified-answer.ts';
import { readFileUpload } from './file-messages.ts';
import { stores } from './runtime.ts';
import { systemFigures } from './status.ts';

/** Methods that carry no file, with the number of their arguments; by whom they may be called. */
const smallMethods = new Map<string, { readonly count: number; readonly forAnonymous: boolean }>([
  ['beginFileUpload', { count: 5, forAnonymous: true }],
  ['beginFileUploadWith', { count: 1, forAnonymous: true }],
  ['completeFileUpload', { count: 2, forAnonymous: true }],
  ['cancelUpload', { count: 1, forAnonymous: true }],
  ['deleteFile', { count: 3, forAnonymous: true }],
  ['createBucket', { count: 2, forAnonymous: false }],
  ['updateBucket', { count: 1, forAnonymous: false }],
  ['deleteBucket', { count: 2, forAnonymous: false }],
  ['rotateBucketKey', { count: 1, forAnonymous: false }],
  ['rotateRootKey', { count: 1, forAnonymous: false }],
  ['updateAccess', { count: 1, forAnonymous: false }],
  ['createApiKey', { count: 1, forAnonymous: false }],
  ['revokeApiKey', { count: 1, forAnonymous: false }],
]);

/** Reads no text that is longer than a small argument: a long one is slow, and none is needed. */
class CautiousReader extends CandidReader {
  #isText = false;

  override blob(): Uint8Array {
    const bytes = super.blob();
    if (this.#isText && bytes.length > smallArgumentBytesMax) {
      throw new RangeError('A text of the message is too long');
    }
    return bytes;
  }

  override text(): string {
    this.#isText = true;
    const text = super.text();
    this.#isText = false;
    return text;
  }
}

/** Refuses by whatever it throws. */
function readWhole<T>(argument: Uint8Array, read: (reader: CandidReader) => T): T {
  const reader = new CautiousReader(argument);
  const value = read(reader);
  reader.end();
  return value;
}

function isAcceptable(method: string, argument: Uint8Array): boolean {
  const small = smallMethods.get(method);
  if (small !== undefined) {
    return (
      argument.length <= smallArgumentBytesMax &&
      (small.forAnonymous || !isAnonymous(currentCall().caller)) &&
      isModestArgument(argument, small.count)
    );
  }
  switch (method) {
    case 'uploadFileChunkIndexed':
      return isChunkWelcome(argument);
    case 'uploadFile':
      return isFileWelcome(argument);
    case 'http_request_update':
      return isRequestWelcome(argument);
    default:
      return false;
  }
}

/** A small one passes without a right to it, and is answered in words. */
function isChunkWelcome(argument: Uint8Array): boolean {
  const chunk = readWhole(argument, readChunk);
  if (argument.length > uncheckedArgumentBytesMax) {
    checkChunk(stores, currentCall(), chunk);
  }
  return true;
}

function isFileWelcome(argument: Uint8Array): boolean {
  const { bucketId: bucket, apiKey } = readWhole(argument, readFileUpload);
  if (argument.length > uncheckedArgumentBytesMax) {
    authorize(stores, currentCall(), { bucket, permission: 'write', apiKey });
  }
  return true;
}

/** What a gateway's query would have answered by asking for this update, and nothing else. */
function isRequestWelcome(argument: Uint8Array): boolean {
  const sent = readWhole(argument, readRequest);
  // A digest is checked when the request is carried out: hashing here could take too long.
  const headers = sent.headers.filter(([name]) => !/^(?:content|repr)-digest$/i.test(name));
  const request = { ...sent, headers };
  const { random } = stores.secrets;
  const environment = { stores, call: currentCall(), random, system: systemFigures };
  const response = handleRequest(routes, { ...environment, request, phase: 'query' });
  return response === upgrade || needsUpdate(request, response);
}

/** What a caller may know: the words of a refusal, or that the message is not what is expected. */
function explain(method: string, error: unknown): string {
  if (error instanceof Refusal) {
    return `${error.code}: ${error.message}`;
  }
  return (
    `${method} takes no such message: send Candid arguments of its types, within its limits, ` +
    'as somebody who may call it.'
  );
}

/** A refusal traps, because a message that is just not accepted is refused without a reason. */
export class InspectActor {
  @inspectMessage({ manual: true })
  inspect(): boolean {
    const method = msgMethodName();
    try {
      if (isAcceptable(method, msgArgData())) {
        return true;
      }
    } catch (error) {
      return trap(explain(method, error));
    }
    return trap(explain(method, undefined));
  }
}
