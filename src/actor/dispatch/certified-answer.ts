// Converts a query's response into one that a verifying gateway accepts: an answer that is
// certified in advance, or a request to call again as an update, whose answer the network
// certifies.

import { canisterSelf } from 'azle';
import { certificateField, certificateHeader } from '../../certification/certificate-header.ts';
import {
  type CertifiedFile,
  type FileRow,
  rowHeaders,
  rowStatus,
} from '../../certification/certified-file.ts';
import { expressionField, expressions } from '../../certification/expressions.ts';
import type { FixedRow } from '../../certification/fixed-answers.ts';
import type { Evidence, RowQuestion } from '../../certification/site-proofs.ts';
import { findChunk } from '../../domain/contents/chunk-records.ts';
import { KeyUnavailable } from '../../domain/keys/root-keys.ts';
import { Refusal } from '../../domain/shared/refusal.ts';
import { answerAt } from '../../http/addresses.ts';
import {
  type AnsweredContent,
  type AnsweredSite,
  type Header,
  type HttpRequest,
  type HttpResponse,
  header,
  type PublicAnswer,
  readablePath,
  type ServedHeaders,
  type SiteAnswer,
  verifiedPath,
} from '../../http/message.ts';
import { missingResponse } from '../../http/missing.ts';
import { formerPreflightResponse, preflightResponse } from '../../http/preflight.ts';
import { upgrade } from '../../http/router.ts';
import { foundAt, replyFace, replyOf, type SiteFound, siteAt } from '../../http/sites.ts';
import { present } from '../../lib/assert.ts';
import { smallArgumentBytesMax, uncheckedArgumentBytesMax } from '../../limits.ts';
import type { EncodableResponse } from '../messages/bulk-messages.ts';
import { certifiedFileOf, fixedAnswer, proofs } from '../runtime/publication.ts';
import { stores } from '../runtime/runtime.ts';

/** The kind of answer for a gateway. */
type Plan = ProvablePlan | { readonly kind: 'upgrade' } | { readonly kind: 'unproven' };

type ProvablePlan =
  | ({ readonly kind: 'file' } & PublicAnswer)
  | { readonly kind: 'preflight'; readonly urlPath: string }
  | FixedPlan
  | ({ readonly kind: 'redirect' } & Redirect)
  | { readonly kind: 'stored'; readonly urlPath: string; readonly reply: AnsweredSite }
  | { readonly kind: 'uncertified'; readonly urlPath: string };

interface FixedPlan {
  readonly kind: 'fixed';
  readonly urlPath: string;
  readonly row: FixedRow;
  /** The answer of a site for missing paths; 'update': nothing but OPTIONS has one. */
  readonly page: SiteAnswer | 'update' | undefined;
}

interface Redirect {
  readonly urlPath: string;
  readonly answer: SiteAnswer;
}

/**
 * Whether the host is `<canister id>.raw.…`, whose gateways verify nothing. A prefix that ends in
 * `--` may precede the id. All other hosts verify, even if their second label is `raw`.
 */
function isRaw(request: HttpRequest): boolean {
  const [name = '', label] = header(request, 'host')?.toLowerCase().split('.', 2) ?? [];
  if (label !== 'raw') return false;
  const id = canisterSelf().toText();
  return name === id || name.endsWith(`--${id}`);
}

/** Whether a verifying gateway must repeat the request as an update. */
export function needsUpdate(request: HttpRequest, response: HttpResponse): boolean {
  return planOf({ request, response, mayAsk: true }).kind === 'upgrade';
}

interface Answered {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  /** Whether the plan may be `upgrade`: false while no budget pays for an update. */
  readonly mayAsk: boolean;
}

/**
 * Returns the response for a gateway: a certified one, the router's own if no proof exists, or
 * `upgrade`. `certificate`: as the System API returns it in a query.
 */
export function provenResponse(
  answer: Answered & { readonly certificate: Uint8Array },
): EncodableResponse | typeof upgrade {
  const { response, certificate } = answer;
  const plan = planOf(answer);
  if (plan.kind === 'upgrade') return upgrade;
  if (plan.kind === 'unproven') return response;
  return withCertificate(prove(plan, response), certificate);
}

export function withCertificate(
  { evidence, status, headers, body }: Proven,
  certificate: Uint8Array,
): EncodableResponse {
  const proof = certificateHeader({ ...evidence, certificate });
  return { status, headers: [...headers, [certificateField, proof]], body };
}

export type Proven = HttpResponse & { readonly evidence: Evidence };

function prove(plan: ProvablePlan, response: HttpResponse): Proven {
  switch (plan.kind) {
    case 'file':
      return provenFile(plan, response.body);
    case 'preflight':
      return provenPreflight(plan.urlPath);
    case 'redirect':
      return provenRedirect('not-found', plan);
    case 'stored':
      return provenStored(plan.urlPath, plan.reply);
    case 'fixed':
      return provenFixed(plan);
    case 'uncertified':
      return provenUncertified(plan.urlPath, response);
  }
}

function planOf(answered: Answered): Plan {
  const { request, response } = answered;
  if (isPreflight(request)) return preflightPlan(answered);
  if (isRaw(request)) return { kind: 'unproven' };
  const urlPath = provablePath(request);
  const { publicAnswer, siteReply } = response;
  // The router has just found the file or the rule: no lookup in the tree is needed.
  if (publicAnswer?.address === urlPath) return { kind: 'file', ...publicAnswer };
  if (siteReply?.proof !== undefined) return { kind: 'stored', urlPath, reply: siteReply };
  // The leaves of a link prove its file, but neither a 404 nor a refusal.
  if (proofs.isAtLink(urlPath)) {
    return response.isMissing ? { kind: 'unproven' } : unprovable(answered);
  }
  if (proofs.hasFileAt(urlPath)) {
    if (publicAnswer !== undefined) return { kind: 'file', ...publicAnswer };
    if (siteReply === undefined || siteReply.isWildcard) return unprovable(answered);
    return { kind: 'redirect', urlPath, answer: siteReply.answer };
  }
  if (proofs.isUncertified(urlPath)) return { kind: 'uncertified', urlPath };
  if (response.isMissing || siteReply !== undefined) {
    return { kind: 'fixed', urlPath, row: 'not-found', page: siteReply?.answer };
  }
  // No file can have a path with NUL, so an update would give the same answer.
  const isUnreadable = urlPath.includes(nulStandIn);
  if (!isUnreadable && unprovable(answered).kind === 'upgrade') return { kind: 'upgrade' };
  return unlessUnopened(answered, () => missingPlan(urlPath));
}

/** Chooses the proof of the answer to all requests for missing paths, where one exists. */
function missingPlan(urlPath: string): Plan {
  const place = siteAt(stores, urlPath);
  const target = place && foundAt(stores, place)?.target;
  if (target?.kind === 'file' || target?.kind === 'update') return { kind: 'unproven' };
  const page = target && replyOf(stores, place, target);
  return { kind: 'fixed', urlPath, row: 'not-found', page };
}

/** Whether it is OPTIONS without a body, as browsers send it; with a body, no proof exists. */
function isPreflight({ method, body }: HttpRequest): boolean {
  return method === 'OPTIONS' && body.length === 0;
}

/**
 * Chooses the proof of the answer to OPTIONS, for every path and host. A gateway that cannot verify
 * one such answer answers OPTIONS itself for a day, and then no page of another origin can send a
 * key.
 */
function preflightPlan(answered: Answered): Plan {
  const { request } = answered;
  if (verifiedPath(request) === undefined) return unprovable(answered);
  const urlPath = provablePath(request);
  if (proofs.isAtLink(urlPath) && answerAt(stores, urlPath) === undefined) {
    return { kind: 'fixed', urlPath, row: 'preflight', page: 'update' };
  }
  if (proofs.isAtLink(urlPath) || proofs.hasFileAt(urlPath)) return { kind: 'preflight', urlPath };
  if (proofs.isUncertified(urlPath)) return { kind: 'uncertified', urlPath };
  const target = siteTargetAt(urlPath);
  if (target?.kind === 'file') return { kind: 'preflight', urlPath };
  const page = target?.kind === 'update' ? target.kind : target && replyFace(target);
  return { kind: 'fixed', urlPath, row: 'preflight', page };
}

function siteTargetAt(urlPath: string): SiteFound['target'] | undefined {
  const place = siteAt(stores, urlPath);
  return place && foundAt(stores, place)?.target;
}

/** Returns the plan, or the result of unprovable() if the site's page cannot be read. */
function unlessUnopened(answered: Answered, plan: () => Plan): Plan {
  try {
    return plan();
  } catch (error) {
    if (error instanceof Refusal || error instanceof KeyUnavailable) return unprovable(answered);
    throw error;
  }
}

const nulStandIn = '\u0001';

/**
 * Returns the path as verifiers read it: malformed percent-encodings stay as they are. Labels are
 * joined by NUL, so U+0001 replaces a NUL of the path: no stored label contains either character,
 * so both paths have the same proof of absence.
 */
export function provablePath(request: HttpRequest): string {
  return readablePath(request).replaceAll('\0', nulStandIn);
}

/** Asks for an update unless the request is large, because the canister would pay for its bytes. */
function unprovable({ request, mayAsk }: Answered): Plan {
  const { url, headers, body } = request;
  const head = headers.reduce((sum, [name, value]) => sum + name.length + value.length, url.length);
  const isSmall = body.length <= uncheckedArgumentBytesMax && head <= smallArgumentBytesMax;
  return { kind: mayAsk && isSmall ? 'upgrade' : 'unproven' };
}

function provenFile(answer: PublicAnswer, body: Uint8Array): Proven {
  const { content, row, served, address: urlPath, isFormer, isWildcard } = answer;
  const certified = certifiedStored(content, served);
  const evidence = evidenceAt({ urlPath, isFormer, isWildcard }, certified, row);
  const status = rowStatus(certified, row);
  return { status, headers: rowHeaders(certified, row), body, evidence };
}

function provenPreflight(urlPath: string): Proven {
  const found = answerAt(stores, urlPath);
  const target = found === undefined ? siteTargetAt(urlPath) : undefined;
  if (target?.kind === 'page' || target?.kind === 'redirect') {
    return provenRedirect('preflight', { urlPath, answer: replyFace(target) });
  }
  const { content, served, isFormer, isWildcard } = present(found, 'certified address');
  const certified = certifiedStored(content, served);
  const place = { urlPath, isFormer, isWildcard };
  const evidence = evidenceAt(place, certified, { row: 'preflight' });
  const response = isFormer ? formerPreflightResponse : preflightResponse;
  return { ...withExpression(response, expressions.plain), evidence };
}

export function provenRedirect(row: FixedRow, { urlPath, answer }: Redirect): Proven {
  const response =
    row === 'preflight'
      ? withExpression(preflightResponse, expressions.plain)
      : withExpression(answer, expressions.anyRequest);
  const evidence = proofs.proveAnswer(urlPath, row, fixedAnswer(answer));
  return { ...response, evidence: present(evidence, 'witness of a redirect') };
}

function provenStored(urlPath: string, reply: AnsweredSite): Proven {
  const { answer, isWildcard, proof } = reply;
  const subtree = present(proof, 'stored proof');
  const evidence = proofs.proveStored(urlPath, isWildcard, subtree);
  const response = withExpression(answer, expressions.anyRequest);
  return { ...response, evidence: present(evidence, 'witness of a rule') };
}

function certifiedStored(content: AnsweredContent, served: ServedHeaders): CertifiedFile {
  const { contentId } = content;
  return certifiedFileOf(content, served, (index) => {
    return present(findChunk(stores, { contentId, index }), 'chunk of a public file').digest;
  });
}

interface ProvedAddress extends Pick<PublicAnswer, 'isFormer' | 'isWildcard'> {
  readonly urlPath: string;
}

function evidenceAt(
  { urlPath, isFormer, isWildcard }: ProvedAddress,
  file: CertifiedFile,
  row: FileRow,
): Evidence {
  if (!isWildcard) return evidenceOf({ path: proofs.leavesPath(urlPath), isFormer }, file, row);
  return present(proofs.proveMissingRow(urlPath, file, row), 'witness of a wildcard');
}

export function evidenceOf(
  place: Pick<RowQuestion, 'path' | 'isFormer'>,
  file: CertifiedFile,
  row: FileRow,
): Evidence {
  const question = { ...place, file, row };
  return present(proofs.proveRow(question), 'witness of a file');
}

export function provenFixed({ urlPath, row, page }: FixedPlan): Proven {
  const isMissing = row === 'not-found';
  const answer = page === 'update' ? undefined : page;
  const response = isMissing
    ? withExpression(answer ?? missingResponse(), expressions.anyRequest)
    : withExpression(preflightResponse, expressions.plain);
  const proved = page === 'update' ? page : page && fixedAnswer(page);
  const evidence = proofs.proveFixed(urlPath, row, proved);
  return { ...response, evidence: present(evidence, 'witness of absence') };
}

/**
 * Answers every missing path below `/cloud` with the 404 of a public bucket, so that the response
 * reveals nothing about private buckets.
 */
function provenUncertified(urlPath: string, response: HttpResponse): Proven {
  const evidence = present(proofs.proveUncertified(urlPath), 'witness of a wildcard');
  const isHidden = response.isMissing === true && !urlPath.startsWith('/api');
  const shown = isHidden ? missingResponse() : response;
  return { ...withExpression(shown, expressions.none), evidence };
}

export function withExpression(response: HttpResponse, expression: string): HttpResponse {
  const own: Header = [expressionField, expression];
  return { ...response, headers: [...response.headers, own] };
}
