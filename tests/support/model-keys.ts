// Operations of the models on API keys, and a wrapper that runs other operations with a key in
// place of the owner.

import { createKey, revokeKey } from '../../src/domain/administration/api-key-administration.ts';
import { callOf, hourNs } from './domain-fixture.ts';
import type { ReferenceKey } from './model-link-reference.ts';
import { type Answer, type Operation, oneOf, type Run } from './model-run.ts';

const liveKeysMax = 5;

function liveKeys({ reference }: Run): ReferenceKey[] {
  return reference.keys.filter((key) => !key.isOver());
}

/** Runs the operation sometimes with a valid key, seldom with an invalid one, else as the owner. */
export function byKey(operation: Operation): Operation {
  return async (run) => {
    const keys = run.random(12) === 0 ? run.reference.keys : liveKeys(run);
    run.key = keys.length > 0 && run.random(10) < 3 ? oneOf(run, keys) : undefined;
    const answer = await operation(run);
    run.key = undefined;
    return answer;
  };
}

/** Creates a key for a whole bucket or for a prefix, sometimes a single name. */
export function makeKey(run: Run): Answer {
  const { model, reference } = run;
  if (liveKeys(run).length >= liveKeysMax) return revoke(run);
  const all = ['read', 'write', 'delete'];
  const named = {
    prefix: oneOf(run, ['', 'a/', 'a/', 'photos/', 'é/', 'f', 'a/f12']),
    permissions: oneOf(run, [all, all, ['read'], ['read', 'write'], ['read', 'delete']]),
    buckets: oneOf(run, [['box'], ['box', 'other'], ['box', 'other']]),
  };
  const lasts = oneOf(run, [undefined, undefined, hourNs, 12n * hourNs]);
  const expiresAtNs = lasts && reference.nowNs + lasts;
  const request = { name: 'model', expiresAtNs, ...named };
  const { key, secret } = createKey(model.current(), callOf('alice', reference.nowNs), request);
  const expiresAt = expiresAtNs ?? 0n;
  const isExpired = () => expiresAt > 0n && expiresAt <= reference.nowNs;
  reference.keys.push({
    id: key.id,
    secret,
    ...named,
    expiresAt,
    isRevoked: false,
    isOver() {
      return this.isRevoked || isExpired();
    },
  });
  return undefined;
}

/** Revokes a key; its links stop working. */
export function revoke(run: Run): Answer {
  const key = oneOf(run, liveKeys(run));
  if (key === undefined) return 'none';
  revokeKey(run.model.current(), callOf('alice', run.reference.nowNs), key.id);
  key.isRevoked = true;
  return 'revoked';
}
