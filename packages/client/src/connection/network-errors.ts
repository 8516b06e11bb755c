// Recognizes responses of the network, its HTTP gateways and boundary nodes, and turns each into a
// StorageError that states the problem, the remedy and the command for it. Sources: interface
// specification, "Error codes"; dfinity/ic-gateway, `src/routing/error_cause.rs` (JSON for
// programs, HTML for browsers, `x-ic-error-cause`).

import { errorStatuses } from '../../../wire/src/error-status.ts';
import { actorRefusal, StorageError, type StorageErrorDetails } from '../storage-error.ts';
import { isLoopback } from './canister-address.ts';

interface Place {
  /** The gateway, or the host for agents. */
  readonly address: string;
  readonly canisterId?: string | undefined;
}

interface NetworkAnswer extends Place {
  /** The reject message, or the body of the response. */
  readonly text: string;
  /** The error code of a reject, such as IC0207. */
  readonly errorCode?: string | undefined;
  /** `x-ic-error-cause` of a response. */
  readonly cause?: string | null | undefined;
}

interface Facts {
  readonly id: string;
  readonly address: string;
  /** ` -n ic` and ` --network ic`, unless the service is on this machine. */
  readonly icp: string;
  readonly dfx: string;
  readonly reason: string;
}

interface Fault {
  readonly code: string;
  readonly errorCodes?: readonly string[];
  /** ic-gateway's names of the cause and titles of its pages. */
  readonly causes?: RegExp;
  readonly titles?: RegExp;
  /** Matches the reject message, or a boundary node's text. */
  readonly words?: RegExp;
  readonly status: number;
  readonly isRetryable?: boolean;
  readonly message: (facts: Facts) => string;
  readonly advice: (facts: Facts) => string;
}

const later = () => 'Try again in a few minutes.';

/** Ordered: the first row that matches wins. */
const faults: readonly Fault[] = [
  {
    code: 'Frozen',
    errorCodes: ['IC0207'],
    causes: /^canister_frozen$/,
    titles: /^Canister Temporarily Unavailable/,
    words: /^Canister \S+ is (?:out of cycles|unable to process query calls because it's frozen)/,
    status: 503,
    message: ({ id, reason }) =>
      `The canister ${id} is frozen: its cycles are below its freezing reserve` +
      `${missingCycles(reason)}, so it does not run.`,
    advice: (facts) => `Top it up: ${topUpCommand(facts)}.`,
  },
  {
    code: 'Stopped',
    errorCodes: ['IC0508', 'IC0509'],
    words: /^Canister \S+ is stopp(?:ed|ing)\b/,
    status: 503,
    // Tools stop a canister for the seconds in which they upgrade it
    isRetryable: true,
    message: ({ id }) => `The canister ${id} is stopped.`,
    advice: ({ id, icp, dfx }) =>
      `A controller starts it: icp canister start ${id}${icp} (or dfx canister start ${id}${dfx}).`,
  },
  {
    code: 'NoSuchCanister',
    errorCodes: ['IC0301'],
    causes: /^canister_(?:route_)?not_found$|^canister_id_|^client_unknown_domain/,
    titles: /^(?:Canister Not Found|Incorrect Canister ID|Canister ID Not Resolved|Unknown Domain)/,
    words: /^Canister \S+ not found|^error: canister_(?:route_)?not_found\b/,
    status: 404,
    message: ({ id, address }) => `Canister ${id} does not exist at ${address}.`,
    advice: ({ dfx }) =>
      'Check the id and that the address belongs to the network of the canister: icp canister ' +
      `status file_storage -e ${dfx === '' ? 'local' : 'ic'} ` +
      `(or dfx canister id file_storage${dfx}) prints the id.`,
  },
  {
    code: 'NoModule',
    errorCodes: ['IC0537'],
    words: /no Wasm module/i,
    status: 503,
    message: ({ id }) => `The canister ${id} has no code installed.`,
    advice: ({ dfx }) =>
      `Install it: icp deploy -e ${dfx === '' ? 'local' : 'ic'} (or dfx deploy${dfx}).`,
  },
  {
    code: 'WrongClock',
    // The host's message, and the agent's after it has compared its clock with the network's.
    words: /Invalid request expiry|Clock drift: -?[1-9]\d{5,}ms|System time has been synced/,
    status: 400,
    message: ({ address }) =>
      `This machine's clock is wrong by minutes, so ${address} refuses its calls.`,
    advice: () => 'Set the clock, preferably by NTP.',
  },
  {
    code: 'ExpiredIdentity',
    words: /Invalid delegation expiry/,
    status: 401,
    message: () => 'The sign-in of this identity has expired.',
    advice: () => 'Sign in again.',
  },
  {
    code: 'SubnetUnavailable',
    causes: /^(?:subnet_updating|subnet_unavailable|no_healthy_nodes)$/,
    titles: /^Subnet Upgrade/,
    words: /^error: no_healthy_nodes\b/,
    status: 503,
    isRetryable: true,
    message: ({ id }) => `The subnet of the canister ${id} is being upgraded. No file is lost.`,
    advice: later,
  },
  {
    code: 'SlowDown',
    causes: /^rate_limited|^load_shed$/,
    titles: /^(?:Rate Limited|Too Many Requests)/,
    words: /^error: (?:rate_limited|load_shed)/,
    status: 429,
    isRetryable: true,
    message: ({ address }) => `The gateway ${address} receives too many requests.`,
    advice: later,
  },
  {
    code: 'Unverified',
    causes: /^backend_response_verification$/,
    titles: /^Response Verification Error/,
    status: 503,
    isRetryable: true,
    message: ({ address }) =>
      `The gateway ${address} withheld a response because its certificate is not valid.`,
    advice: () => 'Try again: another node may respond. Report it if it persists.',
  },
  {
    code: 'GatewayRefused',
    causes: /^(?:denylisted|forbidden|client_domain_canister_mismatch)$/,
    titles:
      /^(?:Unavailable Due to Policy Violation|Access Forbidden|Canister Not Available Through)/,
    status: 403,
    message: ({ id, address }) => `The gateway ${address} does not serve the canister ${id}.`,
    advice: ({ id }) => `Use another gateway, such as https://${id}.icp.net.`,
  },
  {
    code: 'CanisterFailed',
    causes: /^canister_error$/,
    titles: /^Canister Error/,
    status: 503,
    message: ({ id, reason }) => `The canister ${id} failed to answer${because(reason)}.`,
    advice: ({ id, icp }) => `Its log says why: icp canister logs ${id}${icp}.`,
  },
  {
    code: 'GatewayError',
    causes: /^backend_|^internal_server_error$|^canister_reject$/,
    titles: /^(?:Upstream Unavailable|Internal Gateway Error|Request Rejected)/,
    status: 503,
    isRetryable: true,
    message: ({ address, reason }) =>
      `The gateway ${address} got no response from the canister${because(reason)}.`,
    advice: later,
  },
];

/** Codes of errors that affect the whole service, whichever operation is called. */
export const outOfUseCodes: ReadonlySet<string> = new Set([
  ...['Frozen', 'Stopped', 'NoSuchCanister', 'NoModule', 'WrongNetwork', 'WrongClock'],
  ...['SubnetUnavailable', 'GatewayRefused', 'CanisterFailed', 'GatewayError'],
]);

const trapMark = "with message: '";

/** Returns the error in a reject or response; undefined if neither network nor gateway sent it. */
export function networkFault(
  answer: NetworkAnswer,
  details: StorageErrorDetails = {},
): StorageError | undefined {
  const page = readPage(answer.text);
  // A canister chooses the text of its own traps, so that text is not matched.
  const isTrap = page.reason.includes(trapMark);
  if (isTrap) {
    const refusal = refusalInTrap(page.reason, details);
    if (refusal !== undefined) return refusal;
  }
  const [found] = isTrap ? [] : (/\bIC0\d{3}\b/.exec(page.reason) ?? []);
  const errorCode = answer.errorCode ?? found ?? '';
  const cause = answer.cause ?? page.cause;
  const fault = faults.find(
    ({ errorCodes, causes, titles, words }) =>
      errorCodes?.includes(errorCode) ||
      causes?.test(cause) ||
      titles?.test(page.title) ||
      (!isTrap && words?.test(page.reason)),
  );
  return fault && faultError(fault, factsOf(answer, page.reason), details);
}

function faultError(fault: Fault, facts: Facts, details: StorageErrorDetails): StorageError {
  const { code, status, isRetryable = false } = fault;
  const [problem, advice] = [fault.message(facts), fault.advice(facts)];
  return new StorageError(code, `${problem} ${advice}`, {
    ...details,
    status: details.status ?? status,
    isRetryable,
    details: { ...details.details, problem, advice },
  });
}

interface Page {
  readonly cause: string;
  readonly title: string;
  readonly reason: string;
}

/** ic-gateway's pages are longer, but their title is near the beginning. */
const headLength = 20_000;

function readPage(text: string): Page {
  const head = text.slice(0, headLength);
  const title = titleOf(head);
  if (title !== '') return { cause: '', title, reason: '' };
  const { error_type: cause, details, description, error } = parsedJson(text);
  if (typeof cause === 'string') {
    return { cause, title: '', reason: textOf(details) || textOf(description) };
  }
  const { message } = (error ?? {}) as { readonly message?: unknown };
  return { cause: '', title: '', reason: rejectWords(textOf(message) || head) };
}

/** Returns the title of a page of ic-gateway: `title - status | Internet Computer`. */
function titleOf(page: string): string {
  const [, title = ''] = /<title>([^<]+)</.exec(page) ?? [];
  return title.includes('| Internet Computer') ? title.trim() : '';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? rejectWords(value) : '';
}

/** Returns the text of the canister or the network, without the agent's or gateway's text. */
function rejectWords(text: string): string {
  const [, words = text] =
    /(?:Reject text: |reject message |rejected http_request(?:_update)?: )(.*)/s.exec(text) ?? [];
  return words.trim();
}

function parsedJson(text: string): Readonly<Record<string, unknown>> {
  if (!text.startsWith('{')) return {};
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}

const canisterIdPattern = /\bCanister ((?:[a-z2-7]{5}-)+[a-z2-7]{3})\b/i;

function factsOf({ address, canisterId }: Place, reason: string): Facts {
  const [, named] = canisterIdPattern.exec(reason) ?? [];
  const id = canisterId ?? named ?? idIn(address) ?? '<canister id>';
  return { id, address, reason, ...commandFlags(address) };
}

/** Used only in messages: no request goes to an id found in this way. */
function idIn(address: string): string | undefined {
  return /^https?:\/\/((?:[a-z2-7]{5}-)+[a-z2-7]{3})\./.exec(address)?.[1];
}

function commandFlags(address: string): Pick<Facts, 'icp' | 'dfx'> {
  return isLoopback(address) ? { icp: '', dfx: '' } : { icp: ' -n ic', dfx: ' --network ic' };
}

/** Returns the command that adds cycles to a canister, for each of the two tools. */
export function topUpCommand({ id, icp, dfx }: Pick<Facts, 'id' | 'icp' | 'dfx'>): string {
  return `icp canister top-up ${id} --amount 1t${icp} (or dfx cycles top-up ${id} 1T${dfx})`;
}

/** The network reports the missing cycles only to controllers. */
function missingCycles(reason: string): string {
  const [, cycles] = /at least ([\d_,]{1,40}) additional cycles/.exec(reason) ?? [];
  return cycles === undefined ? '' : ` by ${cycles} cycles`;
}

const reasonLength = 300;

function because(reason: string): string {
  const [line = ''] = reason.split('\n', 1);
  return line === '' ? '' : `: ${line.slice(0, reasonLength).trimEnd().replace(/\.$/, '')}`;
}

/** The service's inspection refuses calls by a trap with its own error: `Code: sentence`. */
function refusalInTrap(message: string, details: StorageErrorDetails): StorageError | undefined {
  const mark = message.indexOf(trapMark);
  // Further lines are the agent's description of the call.
  const [words = ''] = message.slice(mark + trapMark.length).split('\n', 1);
  const code = words.slice(0, Math.max(words.indexOf(': '), 0));
  if (!Object.hasOwn(errorStatuses, code)) return undefined;
  const sentence = words.slice(code.length + 2, words.lastIndexOf("'"));
  return actorRefusal(code, sentence, { ...details, status: undefined, isRetryable: undefined });
}

interface Reject extends Place {
  readonly message: string;
  readonly errorCode?: string | undefined;
}

/** Returns the error of a call that the network, the canister or its inspection rejected. */
export function rejectedError(reject: Reject, details: StorageErrorDetails): StorageError {
  const { message, errorCode, ...place } = reject;
  const [, unknown] =
    /has no (?:query |update |composite_query )?method '([^']+)'/.exec(message) ?? [];
  if (unknown !== undefined) {
    const sentence = `The service's version does not have ${unknown}.`;
    return new StorageError('Unsupported', sentence, { ...details, isRetryable: false });
  }
  const [, refused] =
    /message: '(\w+) (?:does not accept this|takes no such) message/.exec(message) ?? [];
  if (refused !== undefined) {
    const sentence =
      `The service does not accept this call of ${refused}: its version lacks the method or an ` +
      'option, or the arguments exceed its limits. Upgrade the service if it is older.';
    return new StorageError('Unsupported', sentence, { ...details, isRetryable: false });
  }
  const fault = networkFault({ ...place, text: message, errorCode }, details);
  if (fault !== undefined) return fault;
  const suffix = errorCode === undefined ? '' : ` (${errorCode})`;
  return new StorageError(
    'Rejected',
    `The call was rejected${because(rejectWords(message))}${suffix}.`,
    details,
  );
}

/** The service refuses uploads when its cycles are nearly used up; a retry does not help. */
export function lowCyclesError(
  message: string,
  place: Place,
  details: StorageErrorDetails,
): StorageError {
  const facts = factsOf(place, '');
  const problem = `The canister ${facts.id} accepts no uploads: its cycles are nearly used up.`;
  const advice = `Top it up: ${topUpCommand(facts)}.`;
  return new StorageError('LowCycles', `${problem} ${advice}`, {
    ...details,
    status: 503,
    isRetryable: false,
    details: { ...details.details, problem, advice, message },
  });
}

export function isLowCycles(message: string): boolean {
  return /^(?:ServiceUnavailable: )?The canister is low on cycles/.test(message);
}

/** Returns the error for a host whose root key is not the trusted one. */
export function wrongNetworkError(address: string, cause: unknown): StorageError {
  const problem = `${address} belongs to another network: its root key is not the trusted one.`;
  const advice =
    'Use https://icp-api.io for the Internet Computer, or localhost for a replica on this machine.';
  return new StorageError('WrongNetwork', `${problem} ${advice}`, {
    cause,
    isRetryable: false,
    details: { problem, advice },
  });
}

/** Returns the error for a response that is neither the service's nor a known gateway's. */
export function unknownAnswer(
  { status, headers }: { readonly status: number; readonly headers: Headers },
  details: StorageErrorDetails,
): StorageError {
  const type = headers.get('content-type') ?? 'no content type';
  if (status === 408) {
    const message = 'The gateway received too little of the request in time (408). Try again.';
    return new StorageError('HttpError', message, { ...details, status });
  }
  const message = [425, 429, 502, 503, 504].includes(status)
    ? `A proxy or gateway in front of the service answered ${status} (${type}). Try again later.`
    : `The answer ${status} (${type}) is not the service's.`;
  return new StorageError('HttpError', message, { ...details, status });
}
