// The entrance of the package: see README.md.

export type { CanisterView, MessageReport } from './core.ts';
export { RejectError } from './reject-error.ts';
export {
  type Replica,
  type ReplicaOptions,
  type StableMemoryView,
  startReplica,
} from './replica.ts';
