// The entry point of the package: see README.md.

export type { CanisterView, MessageReport } from './core.ts';
export { mainnetProfile, type NetworkProfile } from './network/profile.ts';
export type { QueryFaults } from './network/query-faults.ts';
export {
  fetchOutcalls,
  OutcallError,
  type OutcallRequest,
  type OutcallResponse,
  type Outcalls,
} from './outcalls.ts';
export { RejectError } from './reject-error.ts';
export {
  type Replica,
  type ReplicaOptions,
  type StableMemoryView,
  startReplica,
} from './replica.ts';
