// The interface of the Internet Computer for agents, below /api: finds the endpoint, and answers
// every failure, so that no request can end the process. IC spec, "HTTPS Interface".

import { Principal } from '@dfinity/principal';
import { AbortedRequest } from '../aborted-request.ts';
import { encodeSelfDescribed } from '../state/self-described-cbor.ts';
import { subnetOf } from '../subnet-ranges.ts';
import type { AgentContext, ApiVersion, Target } from './agent-context.ts';
import type { AgentRequest, AgentResponse } from './agent-message.ts';
import {
  AgentRequestError,
  agentBodyBytesMax,
  badRequest,
  cborResponse,
  textResponse,
} from './agent-message.ts';
import { handleCall } from './call.ts';
import { handleQuery } from './query.ts';
import { handleReadState } from './read-state.ts';
import { describeTopology } from './topology.ts';

const implementationVersion = 'local-replica';

const targetPattern = /^\/api\/(v[234])\/(canister|subnet)\/([^/]+)\/(call|query|read_state)$/;

type Endpoint = 'call' | 'query' | 'read_state';

/** The versions of each endpoint; agents that get 404 for a newer one fall back to an older one. */
const versions: Record<Target['kind'], Record<Endpoint, readonly string[]>> = {
  canister: { call: ['v2', 'v3', 'v4'], query: ['v2', 'v3'], read_state: ['v2', 'v3'] },
  subnet: { call: ['v4'], query: ['v3'], read_state: ['v2', 'v3'] },
};

export interface AgentEndpoints {
  /** Answers failures with 4xx or 5xx and a plain text. Rejects only with an AbortedRequest. */
  handle(request: AgentRequest): Promise<AgentResponse>;
}

/** @param subnets the subnets besides the root subnet, in the order of their numbers. */
export function createAgentEndpoints(
  root: AgentContext,
  subnets: readonly AgentContext[] = [],
): AgentEndpoints {
  return {
    async handle(request) {
      try {
        return await route([root, ...subnets], request);
      } catch (error) {
        if (error instanceof AbortedRequest) throw error;
        if (error instanceof AgentRequestError) return textResponse(error.status, error.message);
        const reason = error instanceof Error ? error.message : String(error);
        return textResponse(500, `The local replica failed to answer: ${reason}`);
      }
    },
  };
}

type Contexts = readonly [root: AgentContext, ...subnets: AgentContext[]];

/** Returns the subnet of a target, as boundary nodes do; the root subnet for an unknown subnet. */
function contextOf(contexts: Contexts, { kind, id }: Target): AgentContext {
  const found =
    kind === 'canister'
      ? contexts[subnetOf(id, contexts.length - 1)]
      : contexts.find(({ certification }) => certification.subnetId.compareTo(id) === 'eq');
  return found ?? contexts[0];
}

async function route(contexts: Contexts, request: AgentRequest): Promise<AgentResponse> {
  if (request.path === '/api/v2/status') return status(contexts[0], request);
  if (request.path === '/_/topology') return topology(contexts, request);
  const { endpoint, target } = parseTarget(request.path);
  const context = contextOf(contexts, target);
  if (request.method !== 'POST') {
    throw new AgentRequestError(
      405,
      `Method ${request.method.slice(0, 20)} is not allowed: use POST`,
    );
  }
  const { body } = request;
  if (body.length > agentBodyBytesMax) {
    throw new AgentRequestError(
      413,
      `The request body of ${body.length} bytes is larger than the max allowed ${agentBodyBytesMax}.`,
    );
  }
  if (endpoint === 'call') return handleCall(context, { target, body });
  if (endpoint === 'query') return handleQuery(context, { target, body });
  return handleReadState(context, { target, body });
}

/** IC spec, "Request: Status". */
function status(context: AgentContext, request: AgentRequest): AgentResponse {
  checkIsRead(request);
  return cborResponse(
    encodeSelfDescribed({
      root_key: context.certification.rootKey(),
      impl_version: implementationVersion,
      replica_health_status: 'healthy',
    }),
  );
}

function topology(contexts: Contexts, request: AgentRequest): AgentResponse {
  checkIsRead(request);
  const subnets = contexts.map(({ certification }) => certification);
  const body = Buffer.from(JSON.stringify(describeTopology(subnets)));
  return { status: 200, contentType: 'application/json', body: new Uint8Array(body) };
}

function checkIsRead({ method }: AgentRequest): void {
  if (method === 'GET' || method === 'HEAD') return;
  throw new AgentRequestError(405, `Method ${method.slice(0, 20)} is not allowed: use GET`);
}

function parseTarget(path: string): { readonly endpoint: Endpoint; readonly target: Target } {
  const [, version, kind, id, endpoint] = targetPattern.exec(path) ?? [];
  if (!isKind(kind) || !isEndpoint(endpoint) || !isVersion(version) || id === undefined) {
    throw new AgentRequestError(404, 'The endpoint does not exist.');
  }
  if (!versions[kind][endpoint].includes(version)) {
    throw new AgentRequestError(404, `The endpoint ${kind}/${endpoint} has no version ${version}.`);
  }
  return { endpoint, target: { version, kind, id: parsePrincipal(id) } };
}

function parsePrincipal(text: string): Principal {
  try {
    return Principal.fromText(text);
  } catch {
    throw badRequest(`Invalid principal in URL: "${text.slice(0, 100)}"`);
  }
}

function isKind(value: string | undefined): value is Target['kind'] {
  return value === 'canister' || value === 'subnet';
}

function isEndpoint(value: string | undefined): value is Endpoint {
  return value === 'call' || value === 'query' || value === 'read_state';
}

function isVersion(value: string | undefined): value is ApiVersion {
  return value === 'v2' || value === 'v3' || value === 'v4';
}
