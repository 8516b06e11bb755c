// Certificates of the replica's state, signed as the root subnet, so without delegation. A
// signature is expensive, so there is one per state, not per certificate. IC spec, "Certification".

import { randomBytes } from 'node:crypto';
import type { Principal } from '@dfinity/principal';
import type { DataCertificateSource, Engine } from '../core.ts';
import type { HashTree, Label } from './hash-tree.ts';
import { prune, toArrays } from './hash-tree.ts';
import type { RequestRegistry } from './request-registry.ts';
import { createRequestRegistry } from './request-registry.ts';
import type { NodeKey, RootKey } from './root-key.ts';
import { createNodeKey, createRootKey, seedBytes } from './root-key.ts';
import { encodeSelfDescribed } from './self-described-cbor.ts';
import { createStateTree, createSubnetTrees, withTime } from './state-tree.ts';

/** Maximum time that a call waits for others to share one signature. */
const roundMsMax = 100;
const roundStepMs = 4;
/** Age after which an unchanged state is signed again, which keeps its time recent. */
const stateAgeNsMax = 1_000_000_000n;
/** Verifiers accept five minutes; one certificate serves all queries of a minute. */
const dataCertificateAgeNsMax = 60_000_000_000n;

const timePath: readonly Label[] = [Buffer.from('time')];

interface SignedState {
  /** Root of the tree without time, which shows whether the state has changed. */
  readonly stateHash: Uint8Array;
  readonly timeNs: bigint;
  readonly tree: HashTree;
  readonly signature: Uint8Array;
}

interface DataCertificate {
  readonly certifiedData: Uint8Array;
  readonly timeNs: bigint;
  readonly certificate: Uint8Array;
}

export interface Certification {
  /** 32 secret bytes from which both keys follow; the caller stores them between runs. */
  readonly secretSeed: Uint8Array;
  readonly subnetId: Principal;
  readonly nodeKey: NodeKey;
  readonly requests: RequestRegistry;
  /** DER, 133 bytes. */
  rootKey: () => Uint8Array;
  /**
   * Resolves when the state with all complete calls should be certified: no client waits for a
   * running call, or a round has passed. All waiters of a round share the same state.
   */
  endOfRound(): Promise<void>;
  /** Returns a self-described CBOR certificate that reveals the paths and always the time. */
  certify(paths: readonly (readonly Label[])[]): Uint8Array;
  /** Returns the certificate for /canister/ID/certified_data; at most a minute old. */
  dataCertificate: DataCertificateSource;
}

export function createCertification(options: {
  /** 32 bytes, or undefined for new keys. */
  readonly rootSecret: Uint8Array | undefined;
  /** Called at first use, because engine and certification refer to each other. */
  readonly engine: () => Engine;
}): Certification {
  const secretSeed = options.rootSecret ?? new Uint8Array(randomBytes(seedBytes));
  if (secretSeed.length !== seedBytes) {
    throw new RangeError(`The root secret has ${secretSeed.length} bytes, not ${seedBytes}`);
  }
  const rootKey = createRootKey(secretSeed);
  const nodeKey = createNodeKey(secretSeed);
  const requests = createRequestRegistry(() => options.engine().now());
  const signedState = createStateSigner({ engine: options.engine, requests, rootKey, nodeKey });
  return {
    secretSeed,
    subnetId: rootKey.subnetId,
    nodeKey,
    requests,
    rootKey: () => rootKey.publicKey,
    endOfRound: createRounds(requests),
    certify: (paths) => certificateOf(signedState(), paths),
    dataCertificate: createDataCertificates(options.engine, signedState),
  };
}

/** Returns the present signed state; signs only a new or outdated one. */
function createStateSigner(parts: {
  readonly engine: () => Engine;
  readonly requests: RequestRegistry;
  readonly rootKey: RootKey;
  readonly nodeKey: NodeKey;
}): () => SignedState {
  const subnetTrees = createSubnetTrees(parts.rootKey, parts.nodeKey);
  let signed: SignedState | undefined;
  return () => {
    const engine = parts.engine();
    const stateTree = createStateTree({
      canisters: engine.canisters(),
      requestStatus: parts.requests.tree(),
      subnetTrees,
    });
    const timeNs = engine.now();
    if (
      signed === undefined ||
      !isFresh(signed.timeNs, timeNs, stateAgeNsMax) ||
      Buffer.compare(signed.stateHash, stateTree.hash) !== 0
    ) {
      const tree = withTime(stateTree, timeNs);
      const signature = parts.rootKey.signStateRoot(tree.hash);
      signed = { stateHash: stateTree.hash, timeNs, tree, signature };
    }
    return signed;
  };
}

function createRounds(requests: RequestRegistry): () => Promise<void> {
  let round: Promise<void> | undefined;
  const pass = async () => {
    const end = performance.now() + roundMsMax;
    await new Promise(setImmediate);
    while (requests.awaited() > 0 && performance.now() < end) {
      await new Promise((resolve) => setTimeout(resolve, roundStepMs));
    }
    round = undefined;
  };
  return () => {
    round ??= pass();
    return round;
  };
}

function certificateOf(state: SignedState, paths: readonly (readonly Label[])[]): Uint8Array {
  const tree = toArrays(prune(state.tree, [...paths, timePath]));
  return encodeSelfDescribed({ tree, signature: state.signature });
}

function createDataCertificates(
  engine: () => Engine,
  signedState: () => SignedState,
): DataCertificateSource {
  const certificates = new Map<string, DataCertificate>();
  return (canisterId) => {
    const name = canisterId.toText();
    const certifiedData = engine().canister(canisterId)?.certifiedData ?? new Uint8Array();
    const known = certificates.get(name);
    if (
      known !== undefined &&
      isFresh(known.timeNs, engine().now(), dataCertificateAgeNsMax) &&
      Buffer.compare(known.certifiedData, certifiedData) === 0
    ) {
      return known.certificate;
    }
    const state = signedState();
    const id = canisterId.toUint8Array();
    const path = [Buffer.from('canister'), id, Buffer.from('certified_data')];
    const certificate = certificateOf(state, [path]);
    const { timeNs } = state;
    certificates.set(name, { certifiedData: certifiedData.slice(), timeNs, certificate });
    return certificate;
  };
}

/** A clock that was set back makes everything outdated. */
function isFresh(timeNs: bigint, nowNs: bigint, ageNsMax: bigint): boolean {
  return timeNs <= nowNs && nowNs - timeNs <= ageNsMax;
}
