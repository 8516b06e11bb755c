// Builds the responses of an operation: its answers, and a shared one for each status of an error.

import { STATUS_CODES } from 'node:http';
import { errorStatuses } from '../../packages/wire/src/error-status.ts';
import { type Answer, type ErrorCode, type Operation, ref } from './description.ts';
import { type ResponseHeader, responseHeaders, storedWithFiles } from './header-fields.ts';

type Made = Readonly<Record<string, unknown>>;

/** Header fields of errors besides Cache-Control, which every error has. */
const headersOfStatus: Readonly<Record<number, readonly ResponseHeader[]>> = {
  401: ['WWW-Authenticate'],
  416: ['Content-Range'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** Below this path every response has a request id. */
const namingPath = '/api/';

/** Answers to HEAD have no ranges and no bodies. */
export function forHead(operation: Operation): Operation {
  const answers = Object.entries(operation.answers).filter(([status]) => status !== '206');
  const ofRanges: readonly string[] = ['Range', 'If-Range', 'Prefer'];
  const ofBodies: readonly ErrorCode[] = ['InvalidRange', 'EntityTooLarge'];
  return {
    ...operation,
    id: `${operation.id}Head`,
    headers: operation.headers?.filter((name) => !ofRanges.includes(name)) ?? [],
    answers: Object.fromEntries(
      answers.map(([status, { says, headers = [], otherHeaders = [] }]) => [
        Number(status),
        { says, headers, otherHeaders },
      ]),
    ),
    errors: operation.errors.filter((code) => !ofBodies.includes(code)),
  };
}

export function responsesOf(operation: Operation, path: string, isHead: boolean): Made {
  const answers = Object.entries(operation.answers).map(([status, answer]) => {
    return [status, answerObject(answer, path)] as const;
  });
  const statuses = [...new Set(operation.errors.map((code) => errorStatuses[code]))];
  const errors = statuses.map((status) => {
    const codes = new Set(operation.errors.filter((code) => errorStatuses[code] === status));
    const description = [...codes].map((code) => `\`${code}\``).join(', ');
    const isPage = operation.errorPages && status === 404;
    const response = isPage
      ? { ...pageObject(isHead), description }
      : { $ref: `#/components/responses/${errorName(status, isHead)}`, description };
    return [String(status), response] as const;
  });
  const all = [...answers, ...errors].sort(([left], [right]) => Number(left) - Number(right));
  return Object.fromEntries(all);
}

const errorContent = { 'application/json': { schema: ref('Error') } };

function answerObject(answer: Answer, path: string): Made {
  const { says, schema, type = 'application/json', headers = [], otherHeaders = [] } = answer;
  const isNamed = path.startsWith(namingPath);
  const always: readonly ResponseHeader[] = isNamed ? [...headers, 'X-Request-Id'] : headers;
  const some: readonly ResponseHeader[] = isNamed
    ? otherHeaders
    : [...otherHeaders, 'X-Request-Id'];
  return {
    description: says,
    headers: headersObject(always, some),
    ...(schema && { content: { [type]: { schema } } }),
  };
}

/** Returns a name such as `NotFound`, or `NotFoundHead` for HEAD. */
function errorName(status: number, isHead: boolean): string {
  // Node has no name for 460, which tus uses; linters read a component named by digits as a status
  const words = (STATUS_CODES[status] ?? 'ChecksumMismatch').replaceAll(/[^A-Za-z]/g, '');
  return isHead ? `${words}Head` : words;
}

function errorObject(status: number, isHead: boolean): Made {
  const always: readonly ResponseHeader[] = ['Cache-Control', ...(headersOfStatus[status] ?? [])];
  return {
    description: STATUS_CODES[status] ?? 'Checksum Mismatch',
    // X-Request-Id is optional, since a missing path has one certified response for all requests;
    // only uploads by tus have the others
    headers: headersObject(always, ['X-Request-Id', 'Tus-Resumable', 'Tus-Version']),
    ...(!isHead && { content: errorContent }),
  };
}

/** The 404.html of a site, or the error of another bucket. */
function pageObject(isHead: boolean): Made {
  const ofPages = ['X-Request-Id', 'X-Content-Type-Options', ...storedWithFiles] as const;
  const content = { ...errorContent, 'text/html': { schema: { type: 'string' } } };
  return { headers: headersObject(['Cache-Control'], ofPages), ...(!isHead && { content }) };
}

function headersObject(always: readonly ResponseHeader[], some: readonly ResponseHeader[]): Made {
  const required = always.map((name) => [name, { $ref: `#/components/headers/${name}` }]);
  const optional = some.map((name) => [name, { $ref: `#/components/headers/Optional-${name}` }]);
  return Object.fromEntries([...required, ...optional]);
}

/** Returns the shared responses by name. */
export function errorComponents(): Made {
  const statuses = [...new Set(Object.values(errorStatuses))].sort();
  const made = statuses.flatMap((status) =>
    [false, true].map((isHead) => [errorName(status, isHead), errorObject(status, isHead)]),
  );
  return Object.fromEntries(made);
}

/** Returns the shared header fields of responses, in a required and an optional form. */
export function headerComponents(): Made {
  const made = Object.entries(responseHeaders).flatMap(([name, { says, schema }]) => [
    [name, { description: says, required: true, schema }],
    [`Optional-${name}`, { description: says, schema }],
  ]);
  return Object.fromEntries(made);
}
