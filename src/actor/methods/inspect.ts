// Chooses which direct ingress the canister accepts and pays for. One node inspects every ingress
// update, within 200 M instructions; calls of other canisters are not inspected. method-table.ts
// defines what each method accepts and from which callers. IC spec, "Ingress message inspection".

import { inspectMessage, msgArgData, msgMethodName, trap } from 'azle';
import { KeyUnavailable } from '../../domain/keys/root-keys.ts';
import { Refusal } from '../../domain/shared/refusal.ts';
import { refuseAtFront } from '../../domain/shared/role-record.ts';
import { maySayInUpdate, updateRefusal } from '../../http/budgets.ts';
import type { HttpRequest as Request } from '../../http/message.ts';
import { handleRequest, upgrade } from '../../http/router.ts';
import { routes } from '../../http/routes.ts';
import { CandidFault } from '../candid/reader.ts';
import { needsUpdate } from '../dispatch/certified-answer.ts';
import { decodeCall } from '../dispatch/method.ts';
import type { MethodRow } from '../dispatch/method-row.ts';
import { methodTable } from '../dispatch/method-table.ts';
import { isRefusalAffordable } from '../dispatch/refused-calls.ts';
import { explainArgument } from '../messages/argument-faults.ts';
import {
  decodeFileBatch,
  decodeFileDeletion,
  decodeFileSwitch,
} from '../messages/batch-messages.ts';
import { decodeChunk, decodeRequest } from '../messages/bulk-messages.ts';
import { decodeFileUpload } from '../messages/file-messages.ts';
import { currentCall } from '../runtime/call.ts';
import { stores } from '../runtime/runtime.ts';
import { systemFigures } from './status.ts';

/** Arguments with bulk bytes are decoded by the decoders of their methods. */
function argumentsOf(method: string, argument: Uint8Array, { bounds }: MethodRow): unknown[] {
  switch (method) {
    case 'uploadFileChunkIndexed':
      return [decodeChunk(argument, bounds)];
    case 'uploadFile':
      return [decodeFileUpload(argument, bounds)];
    case 'uploadFiles':
      return [decodeFileBatch(argument, bounds)];
    case 'deleteFiles':
      return [decodeFileDeletion(argument, bounds)];
    case 'switchFiles':
      return [decodeFileSwitch(argument, bounds)];
    case 'http_request_update':
      return [decodeRequest(argument, bounds)];
    default:
      return decodeCall(method, argument);
  }
}

function isAcceptable(method: string, argument: Uint8Array): boolean {
  const row = methodTable[method];
  if (row === undefined) {
    return false;
  }
  if (row.isAtFront !== true) refuseAtFront(stores);
  if (method === 'http_request_update') {
    return isRequestWelcome(argumentsOf(method, argument, row)[0] as Request);
  }
  if (row.admit === undefined) {
    return false;
  }
  const values = argumentsOf(method, argument, row) as never[];
  const charge = { bytes: argument.length, isInspected: true };
  try {
    row.admit({ stores, call: { ...currentCall(), charge } }, ...values);
    return true;
  } catch (error) {
    if (row.isSignedQuery) throw error;
    const refused = { method, charge };
    if (error instanceof Refusal && isRefusalAffordable(refused, error.code)) return true;
    // Shortly after an upgrade, the update waits for the key.
    if (error instanceof KeyUnavailable) return true;
    throw error;
  }
}

/** The routes without GET and HEAD of lists, which are too expensive here. */
const updateRoutes = routes.map((route) => {
  const { GET: _get, HEAD: _head, ...handlers } = route.handlers;
  return route.isList ? { ...route, handlers } : route;
});

const digestFields = /^(?:(?:content|repr)-digest|upload-checksum)$/i;

/** Whether a gateway's query would have asked for this update. */
function isRequestWelcome(sent: Request): boolean {
  // The update checks digests: hashing here could take too long.
  const headers = sent.headers.filter(([name]) => !digestFields.test(name));
  const request = { ...sent, headers };
  const environment = { stores, call: currentCall(), request };
  const response = handleRequest(updateRoutes, {
    ...environment,
    system: systemFigures,
    phase: 'query',
    isInspected: true,
  });
  if (response !== upgrade && !needsUpdate(request, response)) return false;
  const refusal = updateRefusal(environment, response);
  if (refusal !== undefined && !maySayInUpdate(environment)) throw refusal;
  return true;
}

/** Returns the error text for the caller: the refusal, or the fault of the message. */
function explain(method: string, error: unknown): string {
  if (error instanceof Refusal) {
    return `${error.code}: ${error.message}`;
  }
  const argument = error instanceof CandidFault ? explainArgument(error) : undefined;
  if (argument !== undefined) {
    return `${method}: ${argument}.`;
  }
  const fault = error instanceof CandidFault ? ` The message ${error.message}.` : '';
  return (
    `${method} does not accept this message: send Candid arguments of its types, within its limits, ` +
    `as a caller with the right to call it.${fault}`
  );
}

/** Traps with the refusal, because a sender gets no reason if inspection only returns false. */
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
